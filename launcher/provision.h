// What the ranks of this host get beside their numbers: devices, and ports.
#pragma once
#include <string>
#include <vector>

#include "launcher/job_plan.h"
#include "launcher/options.h"
#include "launcher/peers.h"
#include "launcher/rank_environment.h"

namespace rota::launcher {

struct Provision {
  std::vector<std::string> devices;  // Index: local rank. Empty: nobody is given one.
  ClaimedPorts ports;                // Held by this.
  Peers peers;
  std::vector<std::string> warnings;
};

// Looks for what there is on this host, where all ranks are. Throws nothing for what there is not:
// ranks of rota's own need none of it.
Provision provide(const Options& options, const JobPlan& plan,
                  const std::vector<std::string>& environment);

// All but the descriptor and the terminal.
RankContract contract_of(std::size_t rank, const JobPlan& plan, const Provision& provision);

}  // namespace rota::launcher
