// Names the range in which no port is free.
#include "communicator/listening_ports.h"

#include <rota/error.h>

#include "os/address.h"

namespace rota {
namespace {

// Does not listen at the first `left` ports of the range.
os::Listener listen_for_ranks(const std::string& host, const std::optional<base::PortRange>& ports,
                              unsigned left) {
  const os::Address address = *os::numeric_address({.host = host, .port = "0"});
  if (!ports) return os::listen_on(address);
  const auto [first, last] = *ports;
  os::PassedPorts passed;
  auto listener = os::listen_between(address.to_text(), first + left, last, passed);
  if (listener) return *std::move(listener);
  throw Error(ErrorCode::kSystem, base::text_of_no_free_port(*ports, left, host, passed.trouble));
}

}  // namespace

os::Listener listen_as_rank_0(const std::string& host,
                              const std::optional<base::PortRange>& ports) {
  return listen_for_ranks(host, ports, 0);
}

os::Listener listen_as_any_rank(const std::string& host,
                                const std::optional<base::PortRange>& ports) {
  return listen_for_ranks(host, ports, 1);
}

}  // namespace rota
