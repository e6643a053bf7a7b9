// What the ranks of one host get beside their numbers: devices, threads and ports.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/plan/host_share.h"
#include "launcher/plan/peers.h"
#include "launcher/ranks/rank_environment.h"

namespace rota::launcher {

struct Provision {
  // Index: local rank.
  std::vector<std::string> devices;          // An empty text, or no texts: it is given none.
  std::vector<std::string> visible_devices;  // What each sees, given or not.
  std::size_t thread_count = 1;
  ClaimedPorts ports;  // As HostPorts has them. Held by this.
  std::vector<std::string> warnings;
};

// Looks for what there is here for the ranks of a share; all ranks of this machine have `cpu_count`
// CPUs. What there is not is a warning at most: ranks of rota's own need none of it.
Provision provide(const Options& options, const std::vector<std::string>& environment,
                  const Share& share, std::size_t cpu_count);

// All but the descriptor and the terminal, for a rank of this host.
RankContract contract_of(const Share& share, std::size_t local_rank, const Peers& peers,
                         const Provision& provision);

}  // namespace rota::launcher
