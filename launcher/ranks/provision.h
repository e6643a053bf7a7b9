// Provides what the ranks of one host get in addition to their numbers: CUDA devices, threads and
// ports.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/plan/host_assignment.h"
#include "launcher/plan/peers.h"
#include "launcher/ranks/rank_environment.h"

namespace rota::launcher {

struct Provision {
  // In the next two, the index is the local rank.
  std::vector<std::string> devices;  // Empty string, or no strings: the rank is given no device.
  std::vector<std::string> visible_devices;  // What each rank sees, given or not.
  std::size_t thread_count = 1;
  bool is_crowded = false;  // This machine has more ranks than CPUs for them.
  std::string address{};    // The other hosts reach this one by it; set if it has several.
  ClaimedPorts ports;  // The ports that HostPorts names. They stay claimed while this object lives.
  std::vector<std::string> warnings;
};

// Finds devices, threads and ports for the ranks of `assignment`. All ranks of this machine share
// `cpu_count` CPUs. If something is missing, that is a warning at most: ranks that use rota need
// none of it.
Provision provide(const Options& options, const std::vector<std::string>& environment,
                  const HostAssignment& assignment, std::size_t cpu_count);

// Returns the contract of a rank of this host, without its descriptor and its terminal.
RankContract contract_of(const HostAssignment& assignment, std::size_t local_rank,
                         const Peers& peers, const Provision& provision);

}  // namespace rota::launcher
