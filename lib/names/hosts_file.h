// Looks up a name in the text of a host's /etc/hosts.
#pragma once
#include <string_view>
#include <vector>

#include "os/address.h"

namespace rota::names {

// Returns the addresses of `name` in the text, in the text's order, each once and with `port`. A
// last dot of `name`, which the file leaves out, does not matter.
std::vector<os::Address> addresses_in(std::string_view text, std::string_view name,
                                      std::string_view port);

}  // namespace rota::names
