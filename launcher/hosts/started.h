// A job whose other hosts are started from this one, through agents such as ssh.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "auth/key.h"
#include "cluster/specification.h"
#include "launcher/command/options.h"
#include "launcher/hosts/agents/agents.h"
#include "launcher/hosts/meet/meeting.h"
#include "launcher/plan/job_plan.h"
#include "launcher/ranks/local_ranks.h"
#include "names/resolver.h"
#include "os/listener.h"
#include "os/signals.h"

namespace rota::launcher {

// Whether this rotarun is to start the others, rather than to wait for what was started there.
bool starts_others(const Options& options, const cluster::Specification& hosts);

// Whether the names of its hosts are to be looked up first: by the way to each host that is to be
// started it is known by which address of ours it calls back, and by an address of its own a host
// finds itself in a list that has another name for it.
bool are_asked_for(const Options& options, const cluster::Specification& hosts);

// Made in the outer process, before there is an inner one.
struct StartedHosts {
  Meeting meeting;
  auth::Key key;
  os::Listener listener;
  std::unique_ptr<Agents> agents;
};

// `arguments` are those of this rotarun, `answers` those of lookup.h for the hosts, where they are
// asked for. Throws UsageError, Error.
StartedHosts start_others(const Options& options, const std::vector<std::string>& arguments,
                          const cluster::Specification& hosts,
                          const std::vector<names::Answer>& answers,
                          const std::vector<std::string>& environment,
                          const os::SignalWatch& signals);

// In the inner process; returns the exit code.
int lead_started(StartedHosts hosts, const Options& options, const Facts& facts,
                 const RunContext& context, os::SignalWatch& signals);

// For --follow: what this host was told to do, by the one that started it.
struct FollowedOrders {
  Options options;
  std::vector<std::string> arguments;  // From which they are.
  Meeting meeting;
  auth::Key key;
};
FollowedOrders follow_orders(int input, const Facts& facts);
int follow_started(FollowedOrders orders, int lifeline, const Facts& facts,
                   const RunContext& context, os::SignalWatch& signals);

}  // namespace rota::launcher
