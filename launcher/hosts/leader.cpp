// The leader waits until all other hosts are here, has them prepare their ranks, and runs the job.
// The leader is host 0, or the host that starts the others.
#include <algorithm>
#include <array>
#include <optional>

#include <rota/error.h>

#include "base/byte_stream.h"
#include "base/domains.h"
#include "base/transports.h"
#include "launcher/command/exit_codes.h"
#include "launcher/hosts/followers.h"
#include "launcher/hosts/rendezvous/host_setup.h"
#include "launcher/hosts/rendezvous/prepared_ranks.h"
#include "launcher/job/job_run.h"
#include "launcher/job/start.h"
#include "launcher/plan/nested_launch.h"
#include "launcher/ranks/heartbeat.h"
#include "launcher/status/status_port.h"
#include "os/address.h"
#include "os/host.h"
#include "os/poll_set.h"
#include "os/shared_mapping.h"

namespace rota::launcher {
namespace {

using base::Clock;

// How long the hosts may take to prepare their ranks, once all hosts are here.
constexpr std::chrono::seconds kPrepareTime{30};

std::string new_salt() {
  std::array<std::byte, 32> bytes{};
  os::fill_with_randomness(bytes);
  return base::text_of(bytes);
}

class Leader {
 public:
  explicit Leader(HostSetup setup)
      : setup_(std::move(setup)),
        followers_(setup_.host_plan, secret_of(setup_), setup_.own, std::move(setup_.listener),
                   complain),
        start_(Clock::now()) {
    if (!setup_.options.status_address) return;
    const auto status = [this] {
      return JobStatus{.waiting_for = "waiting for " + followers_.registry().absent_text() +
                                      followers_.stranger_text()};
    };
    status_port_.emplace(listen_for_status(*setup_.options.status_address, setup_.signals), status,
                         own_names(setup_.host_plan));
  }

  int run() {
    if (const auto code = gather()) return *code;
    try {
      return run_job();
    } catch (const UsageError& error) {
      // All hosts have the same command, so the command is wrong on all of them.
      followers_.refuse_all(kExitUsage, error.what(), Clock::now());
      throw;
    } catch (const std::exception& error) {
      const std::string why =
          name_of_host(setup_.host_plan, setup_.host_plan.own_host) + ": " + error.what();
      followers_.refuse_all(kExitCannotRun, why, Clock::now());
      throw;
    }
  }

 private:
  std::optional<int> gather();
  std::optional<int> place();
  int run_job();
  std::optional<int> turn(base::TimePoint end);
  int give_up(int exit_code, const std::string& why);
  std::optional<int> hear_agents();
  std::optional<int> hear_signals();
  std::string name_in_table(std::size_t host) const;
  bool is_ring_here() const;  // Returns whether no other host has ranks.
  Layout lay_out_hosts() const;
  base::Domains domains_between(const Layout& layout) const;
  void deal(const Layout& layout);
  std::vector<os::Fd> make_arenas_of_all();
  void gather_output();
  Peers peers_of(const Layout& layout) const;
  JobPlan plan_job(const PreparedRanks& own) const;
  KnownDevices devices() const;

  HostSetup setup_;
  Followers followers_;
  base::TimePoint start_;
  base::Domains domains_;                    // By rank, once the ranks are laid out.
  std::string transport_;                    // The transport that the domains need.
  std::vector<HostAssignment> assignments_;  // By host, once deal() has made them.
  std::optional<StatusPort> status_port_;    // Set while the hosts gather.
};

int Leader::give_up(int exit_code, const std::string& why) {
  complain(why);
  followers_.refuse_all(exit_code, why, Clock::now());
  return exit_code;
}

// Makes one iteration of the loop before the job runs. Returns the exit code if the job ends here.
std::optional<int> Leader::turn(base::TimePoint end) {
  os::PollSet polls;
  followers_.send_all(Clock::now());
  polls.add(setup_.signals.fd(), true, false);
  followers_.add_to(polls);
  if (setup_.agents) setup_.agents->add_to(polls);
  if (status_port_) {
    status_port_->add_to(polls, Clock::now());
    end = std::min(end, status_port_->next_deadline().value_or(end));
  }
  wait_beating(polls, std::min(end, followers_.next_deadline().value_or(end)));
  if (status_port_) status_port_->handle(polls, Clock::now());
  for (const JobEvent& event : followers_.handle(polls, Clock::now())) {
    if (event.kind == JobEvent::Kind::kHostLost) return give_up(event.value, event.text);
    if (event.kind == JobEvent::Kind::kNotStarted) return give_up(event.value, event.text);
    if (event.kind != JobEvent::Kind::kSignal) continue;
    if (setup_.signals.is_notice(event.value)) continue;
    return give_up(kExitSignalBase + event.value, event.text + " got a signal that ends the job");
  }
  if (const auto code = hear_agents()) return code;
  return hear_signals();
}

std::optional<int> Leader::hear_signals() {
  const auto number = next_request(setup_.signals);
  if (!number) return std::nullopt;
  return give_up(kExitSignalBase + *number,
                 name_of_host(setup_.host_plan, setup_.host_plan.own_host) + " got " +
                     os::signal_name(*number) + " before the job began");
}

// Handles agents that have ended. An agent that ends before its host has come did not start the
// host. The agent prints the reason.
std::optional<int> Leader::hear_agents() {
  if (!setup_.agents) return std::nullopt;
  setup_.agents->send_requests();
  while (const auto ending = setup_.agents->next_ending()) {
    const HostRegistry& registry = followers_.registry();
    if (ending->host ? registry.is_here(*ending->host) : registry.is_complete()) continue;
    // A signal that was typed for this rotarun may have ended an agent that had just been started.
    // The signal is then the reason.
    if (const auto code = hear_signals()) return code;
    const Ending how{.was_killed = ending->event.kind == os::ProcessEvent::Kind::kKilled,
                     .value = ending->event.value};
    return give_up(kExitIncomplete,
                   "the agent " +
                       (ending->host ? "of " + name_of_host(setup_.host_plan, *ending->host)
                                     : std::string("of the other hosts")) +
                       " " + to_text(how) + " before rotarun connected from there: see --agent");
  }
  return std::nullopt;
}

std::optional<int> Leader::gather() {
  const base::TimePoint deadline = start_ + join_timeout(setup_.options, setup_.host_plan);
  base::TimePoint say_at = start_ + kSayTime;
  while (!followers_.registry().is_complete()) {
    const base::TimePoint now = Clock::now();
    if (now >= deadline) {
      return give_up(kExitIncomplete,
                     "the job is not complete after " + base::to_text(now - start_) +
                         " (--join-timeout): " + followers_.registry().absent_text() +
                         " did not connect to " + setup_.host_plan.leader +
                         followers_.stranger_text() +
                         absence_hint(setup_, followers_.registry().absent()) +
                         container_hint(setup_.host_plan));
    }
    if (now >= say_at) {
      complain("waiting at " + setup_.host_plan.leader + " for " +
               followers_.registry().absent_text() + followers_.stranger_text() +
               absence_hint(setup_, followers_.registry().absent()));
      say_at = now + kSayTime;
    }
    if (const auto code = turn(std::min(deadline, say_at))) return code;
  }
  // Obstacles are reported only now: every host is here, so every host gets the refusal.
  for (const std::string& warning : followers_.registry().warnings())
    complain("warning: " + warning);
  const auto obstacle = followers_.registry().obstacle();
  return obstacle ? std::optional(give_up(obstacle->exit_code, obstacle->why)) : std::nullopt;
}

std::optional<int> Leader::place() {
  const base::TimePoint deadline = Clock::now() + kPrepareTime;
  while (!followers_.registry().has_all_endpoints()) {
    if (Clock::now() >= deadline) {
      return give_up(kExitSilent,
                     "not every host has prepared its ranks within " + base::to_text(kPrepareTime));
    }
    if (const auto code = turn(deadline)) return code;
  }
  return std::nullopt;
}

int Leader::run_job() {
  const Layout layout = lay_out_hosts();
  domains_ = domains_between(layout);
  transport_ = base::transport_between(domains_, setup_.options.transport);
  deal(layout);
  std::vector<os::Fd> arenas = make_arenas_of_all();
  const std::string address = is_ring_here() ? os::kLoopback : followers_.own_address();
  PreparedRanks own = prepare_ranks(setup_, assignments_[setup_.host_plan.own_host], address,
                                    [this] { followers_.send_all(Clock::now()); });
  followers_.assign(assignments_, own.endpoints);
  if (const auto code = place()) return *code;
  arenas.clear();  // Every launcher has opened the arenas.
  const JobPlan plan = plan_job(own);
  const StartInfo start_info{
      .salt = new_salt(),
      .table = rendezvous::encode_table(plan.job.table, plan.job.domains),
      .peers = peers_of(layout),
      .mpi = plan_mpi(setup_.context.mpi, assignments_, plan.job.table, setup_.context.mpi_name())};
  followers_.set_start_info(start_info);
  Prepared prepared{.job = plan.job,
                    .handoff = std::move(own.handoff),
                    .provision = std::move(own.provision),
                    .peers = start_info.peers,
                    .mpi = start_info.mpi,
                    .devices = devices(),
                    .status_port = std::exchange(status_port_, std::nullopt)};
  prepared.job.key = key_of_data(setup_.key, start_info.salt);
  prepared.job.incarnation = followers_.incarnation();
  JobRun job(setup_.options, plan, std::move(prepared), setup_.context, setup_.signals,
             &followers_);
  return job.run();
}

// Returns the domain of each rank. Launchers that meet at a local name are on one machine, so all
// ranks are in one domain, whichever launcher starts them.
base::Domains Leader::domains_between(const Layout& layout) const {
  const bool is_one = setup_.host_plan.is_local && may_share_memory(setup_.options);
  return is_one ? base::Domains(layout.places.size(), 0) : domains_of(layout, setup_.options);
}

// Makes the arenas of all ranks. Returns none if each launcher makes the arenas of its own ranks.
std::vector<os::Fd> Leader::make_arenas_of_all() {
  const bool share_memory = base::sharing_over(transport_) != base::Sharing::kNone;
  if (!setup_.host_plan.is_local || !share_memory) return {};
  const std::size_t count = domains_.size();
  const std::size_t bytes = size_arena(setup_.facts, count);
  std::vector<os::Fd> arenas;
  std::vector<std::string> paths;
  for (std::size_t rank = 0; rank < count; ++rank) {
    arenas.push_back(os::make_shared_memory("rota-arena-" + std::to_string(rank), bytes));
    paths.push_back(os::path_of_shared_memory(arenas.back()));
  }
  for (HostAssignment& assignment : assignments_) assignment.arenas = paths;
  return arenas;
}

// Makes the assignments of all hosts, and of this launcher if it is not one of the hosts.
void Leader::deal(const Layout& layout) {
  for (std::size_t host = 0; host < setup_.host_plan.host_count; ++host) {
    assignments_.push_back(assignment_of(layout, host, setup_.options.groups, transport_));
  }
  if (is_nested_launch(setup_.host_plan.cluster)) {
    std::vector<OwnPlace> places;
    for (std::size_t host = 0; host < setup_.host_plan.host_count; ++host) {
      const Hello& hello = followers_.registry().hello(host);
      places.push_back({hello.host, hello.local_rank, hello.local_count});
    }
    place_on_machines(places, assignments_);
  }
  const std::size_t outside = assignments_.size();
  assignments_.resize(member_count(setup_.host_plan),
                      HostAssignment{.world_size = layout.places.size(),
                                     .transport = transport_,
                                     .host_index = outside,
                                     .host_count = setup_.host_plan.host_count});
  assignments_[host_of_evaluators(setup_.host_plan)].evaluators =
      evaluators_of(setup_.options.groups);
  if (setup_.options.gather_output) gather_output();
}

void Leader::gather_output() {
  HostAssignment& own = assignments_[setup_.host_plan.own_host];
  for (HostAssignment& assignment : assignments_) {
    if (&assignment == &own) continue;
    assignment.sends_output = true;
    for (const std::size_t rank : assignment.ranks) own.remote_members.push_back({.number = rank});
    for (std::size_t index = 0; index < assignment.evaluators.size(); ++index) {
      own.remote_members.push_back({.number = index, .is_evaluator = true});
    }
  }
}

bool Leader::is_ring_here() const {
  return setup_.host_plan.host_count == 1 && setup_.host_plan.own_host == 0;
}

Layout Leader::lay_out_hosts() const {
  LayoutRules rules = layout_rules(setup_.options);
  // A preflight has one rank on each host, whatever world size is declared.
  if (!rules.rank_count && !setup_.options.preflight) {
    rules.rank_count = setup_.host_plan.cluster.world_size;
  }
  std::vector<HostSlots> hosts;
  for (std::size_t host = 0; host < setup_.host_plan.host_count; ++host) {
    hosts.push_back({.name = name_in_table(host),
                     .slot_count = followers_.registry().hello(host).slot_count,
                     .most = setup_.host_plan.cluster.hosts[host].most_slots});
  }
  Layout layout = lay_out(hosts, rules);
  if (!layout.warning.empty()) complain("warning: " + layout.warning);
  return layout;
}

Peers Leader::peers_of(const Layout& layout) const {
  std::vector<HostPorts> free;
  for (std::size_t host = 0; host < setup_.host_plan.host_count; ++host) {
    free.push_back(followers_.registry().endpoints(host).free);
  }
  return describe_peers(layout, free);
}

// Returns the name that the cluster gives the host. If the cluster gives no name, returns the name
// that the host gives itself.
std::string Leader::name_in_table(std::size_t host) const {
  const std::string& name = setup_.host_plan.cluster.hosts[host].name;
  return name.empty() ? followers_.registry().hello(host).host : name;
}

JobPlan Leader::plan_job(const PreparedRanks& own) const {
  JobPlan plan;
  plan.assignment = own.assignment;
  RankTable& table = plan.job.table;
  table.epoch = setup_.host_plan.cluster.epoch.value_or(0);
  table.source = setup_.host_plan.cluster.source;
  table.transport = transport_;
  if (base::sharing_over(transport_) == base::Sharing::kDomain) plan.job.domains = domains_;
  table.tuned = setup_.options.tuned_file;
  table.rows.resize(own.assignment.world_size);
  plan.job.may_spin = true;
  for (std::size_t host = 0; host < setup_.host_plan.host_count; ++host) {
    const HostEndpoints& endpoints = followers_.registry().endpoints(host);
    const HostAssignment& assignment = assignments_[host];
    plan.job.may_spin = plan.job.may_spin && endpoints.may_spin;
    for (std::size_t local = 0; local < assignment.ranks.size(); ++local) {
      table.rows[assignment.ranks[local]] = {.local_rank = assignment.earlier_count + local,
                                             .host = name_in_table(host),
                                             .address = endpoints.addresses[local],
                                             .cores = endpoints.cores[local]};
    }
  }
  plan.job.deadline = setup_.options.deadline;
  plan.job.verbose = setup_.options.verbose;
  plan.job.encrypts = setup_.options.encrypt;
  require_fitting(plan.job, setup_.facts);
  plan.why.push_back(std::to_string(setup_.host_plan.host_count) + " hosts met after " +
                     base::to_text(Clock::now() - start_));
  return plan;
}

KnownDevices Leader::devices() const {
  KnownDevices devices(assignments_.front().world_size);
  for (std::size_t host = 0; host < setup_.host_plan.host_count; ++host) {
    const auto& of_host = followers_.registry().endpoints(host).devices;
    const auto& ranks = assignments_[host].ranks;
    for (std::size_t local = 0; local < ranks.size(); ++local) {
      devices[ranks[local]] = of_host[local];
    }
  }
  return devices;
}

}  // namespace

int lead(HostSetup setup) { return Leader(std::move(setup)).run(); }

}  // namespace rota::launcher
