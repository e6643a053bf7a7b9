// What values of options say. Whatever makes no sense is a UsageError, which names the option.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "launcher/command/options.h"

namespace rota::launcher {

// Empty where the text is no whole number from 1 to `most`.
std::optional<std::size_t> to_count(std::string_view text, std::size_t most);

std::size_t to_rank_count(const std::string& name, const std::string& text);

// "7700-7955"; `given` is how the text came here, for the message.
PortRange to_ports(const std::string& given, std::string_view text);

// The first three are the ranks' own.
int to_descriptor(const std::string& name, const std::string& text);

// "20", "20s", "500ms", "2m".
base::Duration to_duration(const std::string& name, const std::string& text, bool may_be_zero);

// Of -x: "NAME=VALUE", "NAME".
Variable to_variable(const std::string& text);

std::string to_directory(const std::string& flag, const std::string& text);

// Rank 0 opens it, which may be in another directory.
std::string to_path(const std::string& flag, const std::string& text);

// "8080", "0.0.0.0:8080", "[::1]:8080".
std::string to_status_address(const std::string& text);

}  // namespace rota::launcher
