// rotarun-hosts launches a job of several hosts. The other hosts start themselves, or this host
// starts them through agents. rotarun-hosts also serves --follow, on a host that an agent started.
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include <rota/error.h>

#include "cluster/environment.h"
#include "launcher/command/exit_codes.h"
#include "launcher/hosts/across.h"
#include "launcher/hosts/rendezvous/host_setup.h"
#include "launcher/hosts/rendezvous/lookup.h"
#include "launcher/hosts/started.h"
#include "launcher/job/preflight_job.h"
#include "launcher/job/several_hosts.h"
#include "launcher/job/start.h"
#include "launcher/plan/job_scope.h"
#include "launcher/ranks/rank_environment.h"
#include "os/host.h"
#include "os/poll_set.h"

namespace rota::launcher {
namespace {

using base::Clock;

// How long the writer of --key-fd may take to write the key.
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

// Returns the options of the job, or of its preflight. If one host starts the others
// (`is_started`), only rank 0 prints the report of the preflight.
Options job_across(const Options& options, const std::vector<std::string>& arguments,
                   const Facts& facts, const cluster::Specification& hosts, bool is_started) {
  if (!options.preflight) return options;
  const std::size_t own_host = hosts.own_host.value_or(hosts.hosts.size());
  const bool is_listed = own_host < hosts.hosts.size();
  return preflight_job(options,
                       {.world_size = hosts.world_size,
                        .slot_count = slots_here(hosts, own_host, options, facts),
                        .most_slots = is_listed ? hosts.hosts[own_host].most_slots : std::nullopt,
                        .speaks = !is_started,
                        .arguments = arguments});
}

// Returns what MPI in a rank would know about the other ranks. The answer is an estimate, as the
// hosts have not exchanged their slots yet: a host without declared slots is assumed to have as
// many as this host.
MpiView mpi_view_here(const cluster::Specification& hosts, const Options& options,
                      const Facts& facts, const std::vector<std::string>& environment) {
  std::vector<std::size_t> slots = cluster::slots_of(hosts, slots_of(options, facts).count);
  if (options.map_by == MapBy::kFixedPerNode) slots.assign(slots.size(), options.ranks_per_node);
  const std::size_t own_host = hosts.own_host.value_or(slots.size());
  const std::size_t all = std::accumulate(slots.begin(), slots.end(), std::size_t{0});
  return mpi_view_of(own_host < slots.size() ? slots[own_host] : 0,
                     options.rank_count.value_or(hosts.world_size.value_or(all)), environment);
}

// Looks up the names of the hosts again until one of them leads to this host, all of them have an
// address, or --join-timeout has passed: a name server may learn of a pod only after its start.
// Returns an exit code if a signal ends the wait.
std::optional<int> wait_for_own_name(const Options& options, os::SignalWatch& signals,
                                     cluster::Specification& hosts,
                                     std::vector<names::Answer>& answers) {
  constexpr std::chrono::milliseconds kPause{500};
  const base::TimePoint start = Clock::now();
  const base::TimePoint end = start + options.join_timeout.value_or(kTimeToGather);
  base::TimePoint say_at = start + kSayTime;
  while (!hosts.own_host && Clock::now() < end) {
    const auto unknown = std::ranges::find_if(
        answers, [](const names::Answer& answer) { return answer.addresses.empty(); });
    if (unknown == answers.end()) return std::nullopt;
    if (Clock::now() >= say_at) {
      const auto index = static_cast<std::size_t>(unknown - answers.begin());
      complain("looking for this host in " + hosts.source + ": " + hosts.hosts[index].name + ": " +
               unknown->failure);
      say_at += kSayTime;
    }
    os::PollSet polls;
    polls.add(signals.fd(), true, false);
    polls.wait(std::min(end, Clock::now() + kPause));
    if (const auto number = next_request(signals)) {
      complain("got " + os::signal_name(*number) + " while looking for this host in " +
               hosts.source);
      return kExitSignalBase + *number;
    }
    answers = look_up(names_of(hosts.hosts));
    hosts.own_host = find_this_host(answers);
  }
  return std::nullopt;
}

}  // namespace

int launch_across(const Options& options, const std::vector<std::string>& arguments,
                  const Facts& facts, const cluster::Specification& hosts) {
  cluster::Specification known = hosts;
  std::vector<names::Answer> answers;
  if (are_asked_for(options, known)) answers = look_up(names_of(known.hosts));
  if (!known.own_host) known.own_host = find_this_host(answers);
  const bool starts = starts_others(options, known);
  const std::vector<std::string> environment = os::environment();
  std::optional<os::SignalWatch> early;
  const bool is_pod = cluster::is_set(environment, "KUBERNETES_SERVICE_HOST");
  if (is_pod && !starts && !known.own_host && !answers.empty()) {
    early = watch_signals(options);
    if (const auto code = wait_for_own_name(options, *early, known, answers)) return *code;
  }
  if (!starts && !options.agent.empty() && options.agent != "none") {
    throw UsageError(
        "--agent starts rotarun on the hosts of --host, --hostfile or an allocation, but not on "
        "those of " +
        known.source + ": leave out --agent");
  }
  const Options job = job_across(options, arguments, facts, known, starts);
  if (starts) discard_key(job);  // A new key is made for the started hosts.
  const Others others{.hosts = known, .key = starts ? std::nullopt : read_given_key(job)};
  const Found found = find_program(job, environment, mpi_view_here(known, job, facts, environment));
  os::SignalWatch signals = early ? *std::move(early) : watch_signals(job);
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
  FollowRequest request = receive_follow_request(STDIN_FILENO, facts);
  cluster::Specification hosts = request.host_plan.cluster;
  hosts.own_host = request.host_plan.own_host;
  request.options = job_across(request.options, request.arguments, facts, hosts, true);
  const std::vector<std::string> environment = os::environment();
  const Found found = find_program(request.options, environment,
                                   mpi_view_here(hosts, request.options, facts, environment));
  os::SignalWatch signals = watch_signals(request.options);
  return start(environment, found, signals, [&](RunContext& context) {
    context.has_input = false;
    return follow_started(std::move(request), STDIN_FILENO, facts, context, signals);
  });
}

}  // namespace rota::launcher
