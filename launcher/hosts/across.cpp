// Runs this host's part of a job across hosts: makes the host plan and the key, listens if other
// hosts connect here, then leads or follows.
#include "launcher/hosts/across.h"

#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include <rota/error.h>

#include "launcher/command/exit_codes.h"
#include "launcher/hosts/rendezvous/host_plan.h"
#include "launcher/hosts/rendezvous/host_setup.h"
#include "launcher/hosts/rendezvous/host_tree.h"
#include "launcher/hosts/rendezvous/pod_hints.h"
#include "launcher/job/start.h"
#include "os/host.h"
#include "os/patient_listener.h"

namespace rota::launcher {
namespace {

// Returns nothing if a signal waits.
std::optional<os::Listener> listen_for_others(const std::string& place, const RunContext& context,
                                              const os::SignalWatch& signals) {
  try {
    return os::listen_patiently([&] { return os::listen_at(place); }, signals);
  } catch (const Error& error) {
    throw Error(error.code(), std::string(error.what()) +
                                  ": rotarun waits there for the other hosts; if another job has "
                                  "this port, give this job other ports with --ports" +
                                  port_hint(read_pod_facts(context.environment)));
  }
}

// Returns the exit code for the request that waits.
int end_before_job(os::SignalWatch& signals, const HostPlan& host_plan) {
  const auto number = next_request(signals);
  if (!number) return kExitCannotRun;
  complain(name_of_host(host_plan, host_plan.own_host) + " got " + os::signal_name(*number) +
           " before the job began");
  return kExitSignalBase + *number;
}

}  // namespace

int run_across(const Options& options, const Facts& facts, const Others& others,
               const RunContext& context, os::SignalWatch& signals) {
  for (const std::string& remark : others.hosts.remarks) {
    std::fprintf(stderr, "rotarun: note: %s\n", remark.c_str());
  }
  HostPlan host_plan = plan_hosts(others.hosts, options);
  Hello hello = make_hello(host_plan, options, facts, context);
  const auth::Key key = others.key ? auth::job_key(others.key->bytes(), host_plan.job_id)
                                   : key_of_job(options, host_plan, context.environment);
  const bool leads = host_plan.own_host == host_plan.leader_host;
  HostSetup setup{.options = options,
                  .facts = facts,
                  .context = context,
                  .signals = signals,
                  .host_plan = std::move(host_plan),
                  .key = key,
                  .own = std::move(hello)};
  // The children of this host connect to this listener. Without a host tree, the leader's children
  // are all other hosts.
  const std::size_t own_host = setup.host_plan.own_host;
  if (leads || !children_of(setup.host_plan, own_host).empty()) {
    auto listener = listen_for_others(place_of(setup.host_plan, own_host), context, signals);
    if (!listener) return end_before_job(signals, setup.host_plan);
    setup.listener = *std::move(listener);
  }
  return leads ? lead(std::move(setup)) : follow(std::move(setup));
}

}  // namespace rota::launcher
