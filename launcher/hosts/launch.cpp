// In rotarun-hosts: launches a job of several hosts.
#include <unistd.h>

#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include <rota/error.h>

#include "launcher/hosts/across.h"
#include "launcher/hosts/meet/lookup.h"
#include "launcher/hosts/meet/part.h"
#include "launcher/hosts/started.h"
#include "launcher/job/preflight_job.h"
#include "launcher/job/several_hosts.h"
#include "launcher/job/start.h"
#include "launcher/plan/reach.h"
#include "launcher/ranks/rank_environment.h"
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

// As far as it is known before the hosts have met: where slots are not declared, they are taken to
// be as many as here.
bool hides_ranks_of(const cluster::Specification& hosts, const Options& options, const Facts& facts,
                    const std::vector<std::string>& environment) {
  std::vector<std::size_t> slots = cluster::slots_of(hosts, slots_of(options, facts).count);
  if (options.map_by == MapBy::kFixedPerNode) slots.assign(slots.size(), options.ranks_per_node);
  const std::size_t own_host = hosts.own_host.value_or(slots.size());
  const std::size_t all = std::accumulate(slots.begin(), slots.end(), std::size_t{0});
  return hides_ranks_from_mpi(own_host < slots.size() ? slots[own_host] : 0,
                              options.rank_count.value_or(hosts.world_size.value_or(all)),
                              environment);
}

}  // namespace

int launch_across(const Options& options, const std::vector<std::string>& arguments,
                  const Facts& facts, const cluster::Specification& hosts) {
  cluster::Specification known = hosts;
  std::vector<names::Answer> answers;
  if (are_asked_for(options, known)) answers = look_up(names_of(known.hosts));
  if (!known.own_host) known.own_host = find_this_host(answers);
  const bool starts = starts_others(options, known);
  if (!starts && !options.agent.empty() && options.agent != "none") {
    throw UsageError("--agent starts the hosts of --host, --hostfile or an allocation; those of " +
                     known.source + " start rotarun themselves");
  }
  const Options job = job_across(options, arguments, facts, known, starts);
  const std::vector<std::string> environment = os::environment();
  if (starts) discard_key(job);  // One is made for them.
  const Others others{.hosts = known, .key = starts ? std::nullopt : read_given_key(job)};
  const Found found =
      find_program(job, environment, hides_ranks_of(known, job, facts, environment));
  os::SignalWatch signals = watch_signals();
  if (!starts) {
    return start(environment, found, signals, [&](RunContext& context) {
      return run_across(job, facts, others, context, signals);
    });
  }
  StartedHosts started = start_others(job, arguments, known, answers, environment, signals);
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
  const Found found = find_program(orders.options, environment,
                                   hides_ranks_of(hosts, orders.options, facts, environment));
  os::SignalWatch signals = watch_signals();
  return start(environment, found, signals, [&](RunContext& context) {
    context.has_input = false;
    return follow_started(std::move(orders), STDIN_FILENO, facts, context, signals);
  });
}

}  // namespace rota::launcher
