// Finds the addresses of this host that are valid only on one link.
#pragma once
#include <string>
#include <vector>

namespace rota::os {

// Returns the IPv6 link-local addresses of this host, each with its interface, such as
// "fe80::1%eth0". Throws Error kSystem.
std::vector<std::string> own_link_local_addresses();

}  // namespace rota::os
