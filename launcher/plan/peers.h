// Where the ranks of a job may listen for each other, if they are programs of another kind: what
// MASTER_ADDR, MASTER_PORT and TF_CONFIG tell them. Ranks of rota's own do not look at it.
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

// Ports of this host on which nobody listens, and which no other rotarun gives away meanwhile.
struct ClaimedPorts {
  std::vector<std::uint16_t> ports;
  std::vector<os::Fd> claims;  // To be kept as long as the job runs.
};

// The last `count` of the range, or as many as there are, but for its first: there the launchers of
// a job of several hosts meet. At the next ones its ranks listen. Throws Error kSystem.
ClaimedPorts claim_ports(const PortRange& range, std::size_t count);

// An address or a name, without brackets, and a port.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
};

// A host as the others reach it, and the ports of its local ranks; with a further one for what all
// ranks share, if one of them is rank 0.
struct HostPorts {
  std::string address;
  std::vector<std::uint16_t> ports;
};

// What all ranks are told alike; made once, since it is long.
struct Peers {
  std::optional<Endpoint> first;  // At rank 0, and in no list; empty where its host has no port.
  std::string list;  // Of all ranks, as JSON; empty where one has none, or a variable is too short.
};

// `hosts` are those of the layout, in its order.
Peers describe_peers(const Layout& layout, const std::vector<HostPorts>& hosts);

// The value of TF_CONFIG: every rank is a worker, and no evaluator is part of the cluster, as
// TensorFlow has it. Empty where the list is.
std::string tf_config(const Peers& peers, std::size_t rank);
std::string tf_config_of_evaluator(const Peers& peers, std::size_t index);

}  // namespace rota::launcher
