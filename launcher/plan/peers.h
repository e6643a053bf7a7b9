// Chooses addresses where the ranks may listen for each other if their program does not use rota:
// MASTER_ADDR, MASTER_PORT and TF_CONFIG. Programs that use rota ignore these variables.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/plan/layout.h"
#include "os/fd.h"

namespace rota::launcher {

// Ports of this host on which no process listens. While the claims are kept, no other rotarun gives
// these ports to its ranks.
struct ClaimedPorts {
  std::vector<std::uint16_t> ports;
  std::vector<os::Fd> claims;  // Must be kept while the job runs.
  std::string trouble;         // Why the last port that could not be checked was not claimed.
};

// Claims the last `count` free ports of the range, or as many as there are. Never claims the first
// port of the range: there, the launchers of a job of several hosts find each other. The job's
// ranks listen at the ports after the first one. A port that cannot be checked is not free.
ClaimedPorts claim_ports(const PortRange& range, std::size_t count);

// An address or a name, without brackets, and a port.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
};

// The address by which other hosts reach a host, and the ports of its local ranks. The host of rank
// 0 has one more port, which all ranks get as MASTER_PORT.
struct HostPorts {
  std::string address;
  std::vector<std::uint16_t> ports;
};

// The facts that are the same for all ranks. The list is long, so it is made once.
struct Peers {
  // Rank 0's host and its extra port (MASTER_PORT), which the list does not contain. Empty if the
  // host has no port.
  std::optional<Endpoint> first;
  std::string list;  // All ranks, as JSON; empty if a rank has no port, or if it is too long.
};

// Returns the addresses of the ranks. `hosts` are the hosts of the layout, in its order.
Peers describe_peers(const Layout& layout, const std::vector<HostPorts>& hosts);

// Return the value of TF_CONFIG. Every rank is a worker. No evaluator is part of the cluster, as in
// TensorFlow. The value is empty if the list is empty.
std::string tf_config(const Peers& peers, std::size_t rank);
std::string tf_config_of_evaluator(const Peers& peers, std::size_t index);

}  // namespace rota::launcher
