// In rotarun-hosts: launches a job of several hosts.
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include <rota/error.h>

#include "launcher/hosts/across.h"
#include "launcher/hosts/part.h"
#include "launcher/hosts/started.h"
#include "launcher/preflight_job.h"
#include "launcher/reach.h"
#include "launcher/several_hosts.h"
#include "launcher/start.h"
#include "os/host.h"

namespace rota::launcher {
namespace {

// How long whoever has opened it may take to write it.
constexpr std::chrono::seconds kKeyTime{30};

std::optional<auth::SharedKey> read_given_key(const Options& options) {
  if (!options.key_fd) return std::nullopt;
  const os::Fd fd(*options.key_fd);
  try {
    return auth::read_key_descriptor(fd.get(), base::Clock::now() + kKeyTime);
  } catch (const Error& error) {
    throw KeyError(std::string("--key-fd: ") + error.what());
  }
}

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

int launch_across(const Options& options, const std::vector<std::string>& arguments,
                  const Facts& facts, const cluster::Specification& hosts) {
  const bool starts = starts_others(options, hosts);
  if (!starts && !options.agent.empty() && options.agent != "none") {
    throw UsageError("--agent starts the hosts of --host, --hostfile or an allocation; those of " +
                     hosts.source + " start rotarun themselves");
  }
  const Options job = job_across(options, arguments, facts, hosts, starts);
  const std::vector<std::string> environment = os::environment();
  if (starts) discard_key(job);  // One is made for them.
  const Others others{.hosts = hosts, .key = starts ? std::nullopt : read_given_key(job)};
  const Found found = find_program(job, environment);
  os::SignalWatch signals = watch_signals();
  if (!starts) {
    return start(environment, found, signals, [&](RunContext& context) {
      return run_across(job, facts, others, context, signals);
    });
  }
  StartedHosts started = start_others(job, arguments, hosts, environment, signals.state_at_start());
  OtherChildren* agents = started.agents.get();
  return start(
      environment, found, signals,
      [&](RunContext& context) {
        return lead_started(std::move(started), job, facts, context, signals);
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
