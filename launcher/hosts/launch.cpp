// In rotarun-hosts: launches a job of several hosts.
#include <unistd.h>

#include <utility>

#include "launcher/hosts/across.h"
#include "launcher/hosts/part.h"
#include "launcher/hosts/started.h"
#include "launcher/preflight_job.h"
#include "launcher/several_hosts.h"
#include "launcher/start.h"
#include "os/host.h"

namespace rota::launcher {
namespace {

// One that is started from another host leaves it to that one to speak.
Options job_across(const Options& options, const std::vector<std::string>& arguments,
                   const Facts& facts, const cluster::Specification& hosts, bool is_started) {
  if (!options.preflight) return options;
  const std::size_t own_host = hosts.own_host.value_or(hosts.hosts.size());
  return preflight_job(options, {.world_size = hosts.world_size,
                                 .slot_count = slots_here(hosts, own_host, options, facts),
                                 .speaks = !is_started,
                                 .arguments = arguments});
}

}  // namespace

int launch_across(const Options& given, const std::vector<std::string>& arguments,
                  const Facts& facts, const cluster::Specification& hosts) {
  const Options options = job_across(given, arguments, facts, hosts, starts_others(given, hosts));
  const std::vector<std::string> environment = os::environment();
  const Found found = find_program(options, environment);
  os::SignalWatch signals = watch_signals();
  if (!starts_others(options, hosts)) {
    return start(environment, found, signals, [&](RunContext& context) {
      return run_across(options, facts, hosts, context, signals);
    });
  }
  StartedHosts started =
      start_others(options, arguments, hosts, environment, signals.state_at_start());
  OtherChildren* agents = started.agents.get();
  return start(
      environment, found, signals,
      [&](RunContext& context) {
        return lead_started(std::move(started), options, facts, context, signals);
      },
      agents);
}

int launch_followed(const std::vector<std::string>& /*arguments*/) {
  const Facts facts = gather_facts();
  FollowedOrders orders = follow_orders(STDIN_FILENO, facts);
  cluster::Specification hosts = orders.meeting.cluster;
  hosts.own_host = orders.meeting.own_host;
  orders.options = job_across(orders.options, orders.arguments, facts, hosts, true);
  const std::vector<std::string> environment = os::environment();
  const Found found = find_program(orders.options, environment);
  os::SignalWatch signals = watch_signals();
  return start(environment, found, signals, [&](RunContext& context) {
    context.has_input = false;
    return follow_started(std::move(orders), STDIN_FILENO, facts, context, signals);
  });
}

}  // namespace rota::launcher
