// What a host's resolv.conf says of name servers, and of names that are short for others.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "os/address.h"

namespace rota::names {

struct ResolvConf {
  std::vector<os::Address> servers;  // Never empty: this host's own where none is named.
  std::vector<std::string> search;   // Domains without their last dot; the root is empty.
  std::size_t ndots = 1;             // With so many dots a name is tried as it stands first.
  bool by_stream = false;            // Ask over TCP from the start.
};

inline constexpr std::size_t kMaxServers = 3;
inline constexpr std::size_t kMaxDomains = 32;
inline constexpr std::size_t kMaxDots = 15;

// As the system reads it: what makes no sense is passed over, the last list of domains counts, and
// without one the domain of `host_name`.
ResolvConf parse_resolv_conf(std::string_view text, std::string_view host_name);

}  // namespace rota::names
