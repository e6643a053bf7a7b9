// What a host's file of hosts says.
#pragma once
#include <string_view>
#include <vector>

#include "os/address.h"

namespace rota::names {

// The addresses that the text gives to the name, in its order, each once and with that port.
std::vector<os::Address> addresses_in(std::string_view text, std::string_view name,
                                      std::string_view port);

}  // namespace rota::names
