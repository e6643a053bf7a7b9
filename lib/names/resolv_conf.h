// Parses a host's resolv.conf, which lists name servers and says how to complete short names.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "os/address.h"

namespace rota::names {

struct ResolvConf {
  std::vector<os::Address> servers;  // Never empty: 127.0.0.1 if none is named.
  std::vector<std::string> search;   // Domains without their last dot; the root is "".
  std::size_t ndots = 1;             // Names with as many dots or more are first tried unchanged.
  bool by_stream = false;            // Ask over TCP from the start.
};

inline constexpr std::size_t kMaxServers = 3;
inline constexpr std::size_t kMaxDomains = 32;
inline constexpr std::size_t kMaxDots = 15;

// Reads the text like the system's resolver. Text that makes no sense is skipped. The last list of
// domains is the search list. Without a list, the search list is the domain of `host_name`.
ResolvConf parse_resolv_conf(std::string_view text, std::string_view host_name);

}  // namespace rota::names
