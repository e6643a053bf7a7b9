// Names the range in which no port is free.
#include "communicator/listening_ports.h"

#include <rota/error.h>

#include "os/address.h"

namespace rota {

os::Listener listen_for_ranks(const std::string& host, const std::optional<os::PortRange>& ports) {
  if (!ports) return os::listen_on(*os::numeric_address({.host = host, .port = "0"}));
  std::string trouble;
  if (auto listener = os::listen_in(host, *ports, trouble)) return *std::move(listener);
  throw Error(ErrorCode::kSystem, "none of the ports " + std::to_string(ports->first) + " to " +
                                      std::to_string(ports->last) + " (ROTA_PORTS) of " + host +
                                      " is free, and other ranks must reach this rank there" +
                                      (trouble.empty() ? "" : " (last error: " + trouble + ")") +
                                      ": set ROTA_PORTS to a wider range");
}

}  // namespace rota
