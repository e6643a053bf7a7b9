// Opens the listening sockets of ranks that no rotarun has started, at the ports that a firewall
// lets through.
#pragma once
#include <optional>
#include <string>

#include <rota/options.h>

#include "base/port_range.h"
#include "os/listener.h"

namespace rota {

// Returns the range that the options or the variable ROTA_PORTS give, or nothing if neither gives
// one. Throws Error kInvalidArgument if the text is no range of ports.
std::optional<base::PortRange> listening_ports(const CommunicatorOptions& options);

// Listens at the first free port of `ports`, or, without a range, at a port that the system
// chooses. `host` is a numeric address without brackets; "::" means every interface. Throws Error
// kSystem.
os::Listener listen_as_rank_0(const std::string& host, const std::optional<base::PortRange>& ports);

// Does the same, but leaves the first port of the range to the rank 0 of a job.
os::Listener listen_as_any_rank(const std::string& host,
                                const std::optional<base::PortRange>& ports);

}  // namespace rota
