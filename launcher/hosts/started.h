// Starts the other hosts of a job from this one, through agents such as ssh or srun, so that one
// command starts the whole job.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "auth/key.h"
#include "cluster/specification.h"
#include "launcher/command/options.h"
#include "launcher/hosts/agents/agents.h"
#include "launcher/hosts/rendezvous/host_plan.h"
#include "launcher/plan/job_plan.h"
#include "launcher/ranks/local_ranks.h"
#include "names/resolver.h"
#include "os/listener.h"
#include "os/signals.h"

namespace rota::launcher {

// Returns whether this rotarun starts the other hosts. If not, this rotarun waits for launchers
// that were started on the other hosts.
bool starts_others(const Options& options, const cluster::Specification& hosts);

// Returns whether the names of the hosts must be looked up before the plan is made. There are two
// reasons. If this host starts the others, the route to another host shows which address of this
// host the other host can connect to. If this host's name is not in the list, this host finds
// itself by its address.
bool are_asked_for(const Options& options, const cluster::Specification& hosts);

// Has what start_others() has made, in the outer process, before the inner one exists.
struct StartedHosts {
  HostPlan host_plan;
  auth::Key key;
  os::Listener listener;
  std::unique_ptr<Agents> agents;
};

// Starts the other hosts. `arguments` are the arguments of this rotarun. `answers` come from
// look_up() for the hosts, if are_asked_for(). Throws UsageError, Error.
StartedHosts start_others(const Options& options, const std::vector<std::string>& arguments,
                          const cluster::Specification& hosts,
                          const std::vector<names::Answer>& answers,
                          const std::vector<std::string>& environment,
                          const os::SignalWatch& signals);

// Runs in the inner process. Returns the exit code.
int lead_started(StartedHosts hosts, const Options& options, const Facts& facts,
                 const RunContext& context, os::SignalWatch& signals);

// For --follow: the request of the host that started this one.
struct FollowRequest {
  Options options;
  std::vector<std::string> arguments;  // The arguments that `options` were parsed from.
  HostPlan host_plan;
  auth::Key key;
};
FollowRequest receive_follow_request(int input, const Facts& facts);
int follow_started(FollowRequest request, int lifeline, const Facts& facts,
                   const RunContext& context, os::SignalWatch& signals);

}  // namespace rota::launcher
