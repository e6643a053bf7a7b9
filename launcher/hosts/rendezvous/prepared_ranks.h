// Prepares what the ranks of a host need before they start: their listening sockets, cores, shared
// memory and devices.
#pragma once
#include <string>

#include "launcher/hosts/rendezvous/host_setup.h"
#include "launcher/hosts/wire/control_message.h"
#include "launcher/ranks/descriptor_handoff.h"
#include "launcher/ranks/local_ranks.h"
#include "launcher/ranks/provision.h"

namespace rota::launcher {

struct PreparedRanks {
  HostAssignment assignment;
  HostEndpoints endpoints;
  DescriptorHandoff handoff;
  Provision provision;
};

// Prepares the ranks of `assignment`. `address` is the IP address of this host to which the other
// hosts connect, such as "10.0.0.1" or "fd00::1". The ranks listen at free ports of the range,
// except its first port: the leader's launcher listens there. This may take seconds, for example
// while other processes hold the ports. So it beats, and calls `show_life`, again and again. Throws
// UsageError, Error kSystem, kNoMemory.
PreparedRanks prepare_ranks(const HostSetup& setup, HostAssignment assignment,
                            const std::string& address, const LocalRanks::ShowLife& show_life);

}  // namespace rota::launcher
