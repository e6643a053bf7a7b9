// Where the ranks of a job may listen for each other, if they are programs of another kind: what
// MASTER_ADDR, MASTER_PORT and TF_CONFIG tell them. Ranks of rota's own do not look at it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/options.h"
#include "os/fd.h"

namespace rota::launcher {

// Ports of this host on which nobody listens, and which no other rotarun gives away meanwhile.
struct ClaimedPorts {
  std::vector<std::uint16_t> ports;
  std::vector<os::Fd> claims;  // To be kept as long as the job runs.
};

// The first `count` of the range, or as many as there are. Throws Error kSystem.
ClaimedPorts claim_ports(const PortRange& range, std::size_t count);

// An address or a name, without brackets, and a port.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
};

// What all ranks are told alike; made once, since it is long.
struct Peers {
  std::optional<Endpoint> first;  // Of rank 0.
  std::string list;               // The others' too, as JSON; empty where it cannot be told.
};

// `endpoints` has rank after rank; where they are not one for each of the `world_size`, or more
// than a variable can hold, only the first can be told.
Peers describe_peers(const std::vector<Endpoint>& endpoints, std::size_t world_size);

// The value of TF_CONFIG: every rank is a worker. Empty where the list is.
std::string tf_config(const Peers& peers, std::size_t rank);

}  // namespace rota::launcher
