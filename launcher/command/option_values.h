// Parses the values of options. A value that makes no sense throws UsageError, which names the
// option.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "launcher/command/options.h"

namespace rota::launcher {

// Returns nothing if the text is not a whole number from 1 to `most`.
std::optional<std::size_t> to_count(std::string_view text, std::size_t most);

std::size_t to_rank_count(const std::string& name, const std::string& text);

// Parses a range of ports such as "7700-7955". `given` is the option or the variable with the text,
// for the message.
PortRange to_ports(const std::string& given, std::string_view text);

// Parses the number of a descriptor, 3 or more: 0 to 2 are standard input, output and error.
int to_descriptor(const std::string& name, const std::string& text);

// Parses a duration such as "20" (seconds), "20s", "500ms" or "2m".
base::Duration to_duration(const std::string& name, const std::string& text, bool may_be_zero);

// Parses the value of -x: "NAME=VALUE" or "NAME".
Variable to_variable(const std::string& text);

std::string to_directory(const std::string& flag, const std::string& text);

// Makes the path absolute: rank 0 opens the file, and may run in another directory.
std::string to_path(const std::string& flag, const std::string& text);

// Returns a numeric address as the system writes it: "fd00::1" for "FD00:0::1". Returns any other
// text as it is.
std::string to_usual_form(const std::string& address);

// Parses an address such as "8080", "0.0.0.0:8080" or "[::1]:8080". Returns a numeric address with
// a port.
std::string to_status_address(const std::string& text);

}  // namespace rota::launcher
