// Host 0's part: waits until all others are here, has them prepare, and runs the job.
#include <algorithm>
#include <array>
#include <optional>

#include <rota/error.h>

#include "base/islands.h"
#include "base/transports.h"
#include "launcher/command/exit_codes.h"
#include "launcher/hosts/followers.h"
#include "launcher/hosts/meet/part.h"
#include "launcher/hosts/meet/seating.h"
#include "launcher/job/job_run.h"
#include "launcher/job/start.h"
#include "launcher/plan/one_slot_each.h"
#include "launcher/ranks/heartbeat.h"
#include "launcher/status/status_port.h"
#include "os/address.h"
#include "os/host.h"
#include "os/poll_set.h"
#include "os/shared_memory.h"

namespace rota::launcher {
namespace {

using base::Clock;

// How long hosts that are all here may take to prepare.
constexpr std::chrono::seconds kSeatTime{30};

std::string new_salt() {
  std::array<std::byte, 32> bytes{};
  os::fill_with_randomness(bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Leader {
 public:
  explicit Leader(Part part)
      : part_(std::move(part)),
        followers_(part_.meeting, secret_of(part_), part_.own, std::move(part_.listener), complain),
        start_(Clock::now()) {
    if (!part_.options.status_address) return;
    const auto status = [this] {
      return JobStatus{.waiting_for = "waiting for " + followers_.muster().absent_text() +
                                      followers_.stranger_text()};
    };
    status_port_.emplace(*part_.options.status_address, status, own_names(part_.meeting));
  }

  int run() {
    if (const auto code = gather()) return *code;
    try {
      return run_job();
    } catch (const UsageError& error) {
      // What all were given by one command is wrong.
      followers_.refuse_all(kExitUsage, error.what(), Clock::now());
      throw;
    } catch (const std::exception& error) {
      const std::string why =
          name_of_host(part_.meeting, part_.meeting.own_host) + ": " + error.what();
      followers_.refuse_all(kExitCannotRun, why, Clock::now());
      throw;
    }
  }

 private:
  std::optional<int> gather();
  std::optional<int> seat();
  int run_job();
  std::optional<int> turn(base::TimePoint end);
  int give_up(int exit_code, const std::string& why);
  std::optional<int> hear_agents();
  std::optional<int> hear_signals();
  std::string name_in_table(std::size_t host) const;
  bool is_ring_here() const;  // Where all other hosts have no ranks.
  Layout lay_out_hosts() const;
  base::Islands islands_between(const Layout& layout) const;
  void deal(const Layout& layout);
  std::vector<os::Fd> make_arenas_of_all();
  void gather_output();
  Peers peers_of(const Layout& layout) const;
  JobPlan plan_job(const Seating& own) const;
  KnownDevices devices() const;

  Part part_;
  Followers followers_;
  base::TimePoint start_;
  base::Islands islands_;                  // By rank, once they are laid out.
  std::string transport_;                  // As they make it.
  std::vector<Share> shares_;              // By host, once they are dealt.
  std::optional<StatusPort> status_port_;  // While the hosts gather.
};

int Leader::give_up(int exit_code, const std::string& why) {
  complain(why);
  followers_.refuse_all(exit_code, why, Clock::now());
  return exit_code;
}

// One turn before the job runs; the exit code where that was the last one.
std::optional<int> Leader::turn(base::TimePoint end) {
  os::PollSet polls;
  followers_.send_all(Clock::now());
  polls.add(part_.signals.fd(), true, false);
  followers_.add_to(polls);
  if (part_.agents) part_.agents->add_to(polls);
  if (status_port_) {
    status_port_->add_to(polls, Clock::now());
    end = std::min(end, status_port_->next_deadline().value_or(end));
  }
  wait_beating(polls, std::min(end, followers_.next_deadline().value_or(end)));
  if (status_port_) status_port_->handle(polls, Clock::now());
  for (const News& news : followers_.handle(polls, Clock::now())) {
    if (news.kind == News::Kind::kHostLost) return give_up(news.value, news.text);
    if (news.kind == News::Kind::kNotStarted) return give_up(news.value, news.text);
    if (news.kind != News::Kind::kSignal) continue;
    return give_up(kExitSignalBase + news.value, news.text + " got a signal that ends the job");
  }
  if (const auto code = hear_agents()) return code;
  return hear_signals();
}

std::optional<int> Leader::hear_signals() {
  while (const auto signal = part_.signals.next()) {
    if (signal->number == SIGCHLD) continue;
    return give_up(kExitSignalBase + signal->number,
                   name_of_host(part_.meeting, part_.meeting.own_host) + " got " +
                       os::signal_name(signal->number) + " before the job began");
  }
  return std::nullopt;
}

// One that has ended before its host came has not started it, and says why itself.
std::optional<int> Leader::hear_agents() {
  if (!part_.agents) return std::nullopt;
  part_.agents->send_orders();
  while (const auto ending = part_.agents->next_ending()) {
    const Muster& muster = followers_.muster();
    if (ending->host ? muster.is_here(*ending->host) : muster.is_complete()) continue;
    // One that has just been started may get what somebody types for us.
    if (const auto code = hear_signals()) return code;
    const Ending how{.was_killed = ending->event.kind == os::ProcessEvent::Kind::kKilled,
                     .value = ending->event.value};
    return give_up(kExitIncomplete,
                   "the agent " +
                       (ending->host ? "of " + name_of_host(part_.meeting, *ending->host)
                                     : std::string("of the other hosts")) +
                       " " + to_text(how) + " before rotarun called from there: see --agent");
  }
  return std::nullopt;
}

std::optional<int> Leader::gather() {
  const base::TimePoint deadline = start_ + join_timeout(part_.options, part_.meeting);
  base::TimePoint say_at = start_ + kSayTime;
  while (!followers_.muster().is_complete()) {
    const base::TimePoint now = Clock::now();
    if (now >= deadline) {
      return give_up(kExitIncomplete,
                     "the job is not complete after " + base::to_text(now - start_) +
                         " (--join-timeout): " + followers_.muster().absent_text() +
                         " did not come to " + part_.meeting.leader + followers_.stranger_text() +
                         absence_hint(part_, followers_.muster().absent()));
    }
    if (now >= say_at) {
      complain("waiting at " + part_.meeting.leader + " for " + followers_.muster().absent_text() +
               followers_.stranger_text() + absence_hint(part_, followers_.muster().absent()));
      say_at = now + kSayTime;
    }
    if (const auto code = turn(std::min(deadline, say_at))) return code;
  }
  // Only now, so that all hear of it.
  for (const std::string& warning : followers_.muster().warnings()) complain("warning: " + warning);
  const auto obstacle = followers_.muster().obstacle();
  return obstacle ? std::optional(give_up(obstacle->exit_code, obstacle->why)) : std::nullopt;
}

std::optional<int> Leader::seat() {
  const base::TimePoint deadline = Clock::now() + kSeatTime;
  while (!followers_.muster().is_seated()) {
    if (Clock::now() >= deadline) {
      return give_up(kExitSilent,
                     "not every host has prepared its ranks within " + base::to_text(kSeatTime));
    }
    if (const auto code = turn(deadline)) return code;
  }
  return std::nullopt;
}

int Leader::run_job() {
  const Layout layout = lay_out_hosts();
  islands_ = islands_between(layout);
  transport_ = base::transport_between(islands_, part_.options.transport);
  deal(layout);
  std::vector<os::Fd> arenas = make_arenas_of_all();
  const std::string address = is_ring_here() ? os::kLoopback : followers_.own_address();
  Seating own = take_seats(part_, shares_[part_.meeting.own_host], address);
  followers_.assign(shares_, own.seats);
  if (const auto code = seat()) return *code;
  arenas.clear();  // Every rotarun has opened them.
  const JobPlan plan = plan_job(own);
  const Beginning beginning{.salt = new_salt(),
                            .table = rendezvous::encode_table(plan.job.table, plan.job.islands),
                            .peers = peers_of(layout)};
  followers_.set_beginning(beginning);
  Prepared prepared{.job = plan.job,
                    .loan = std::move(own.loan),
                    .provision = std::move(own.provision),
                    .peers = beginning.peers,
                    .devices = devices(),
                    .status_port = std::exchange(status_port_, std::nullopt)};
  prepared.job.key = key_of_data(part_.key, beginning.salt);
  prepared.job.incarnation = followers_.incarnation();
  JobRun job(part_.options, plan, std::move(prepared), part_.context, part_.signals, &followers_);
  return job.run();
}

// Those who meet at a local name are on one machine, whichever rotarun has started them.
base::Islands Leader::islands_between(const Layout& layout) const {
  const bool is_one = part_.meeting.is_local && may_share_memory(part_.options);
  return is_one ? base::Islands(layout.seats.size(), 0) : islands_of(layout, part_.options);
}

// Empty where each rotarun makes those of its own ranks.
std::vector<os::Fd> Leader::make_arenas_of_all() {
  const bool share_memory = base::sharing_over(transport_) != base::Sharing::kNone;
  if (!part_.meeting.is_local || !share_memory) return {};
  const std::size_t count = islands_.size();
  const std::size_t bytes = size_arena(part_.facts, count);
  std::vector<os::Fd> arenas;
  std::vector<std::string> paths;
  for (std::size_t rank = 0; rank < count; ++rank) {
    arenas.push_back(os::make_shared_memory("rota-arena-" + std::to_string(rank), bytes));
    paths.push_back(os::path_of_shared_memory(arenas.back()));
  }
  for (Share& share : shares_) share.arenas = paths;
  return arenas;
}

// The shares of all hosts, and of this one where it is none of them.
void Leader::deal(const Layout& layout) {
  for (std::size_t host = 0; host < part_.meeting.host_count; ++host) {
    shares_.push_back(share_of(layout, host, part_.options.groups, transport_));
  }
  if (is_one_slot_each(part_.meeting.cluster)) {
    std::vector<OwnPlace> places;
    for (std::size_t host = 0; host < part_.meeting.host_count; ++host) {
      const Hello& hello = followers_.muster().hello(host);
      places.push_back({hello.host, hello.local_rank, hello.local_count});
    }
    seat_on_machines(places, shares_);
  }
  const std::size_t outside = shares_.size();
  shares_.resize(member_count(part_.meeting), Share{.world_size = layout.seats.size(),
                                                    .transport = transport_,
                                                    .host_index = outside,
                                                    .host_count = part_.meeting.host_count});
  shares_[host_of_evaluators(part_.meeting)].evaluators = evaluators_of(part_.options.groups);
  if (part_.options.gather_output) gather_output();
}

void Leader::gather_output() {
  Share& own = shares_[part_.meeting.own_host];
  for (Share& share : shares_) {
    if (&share == &own) continue;
    share.sends_output = true;
    for (const std::size_t rank : share.ranks) own.guests.push_back({.number = rank});
    for (std::size_t index = 0; index < share.evaluators.size(); ++index) {
      own.guests.push_back({.number = index, .is_evaluator = true});
    }
  }
}

bool Leader::is_ring_here() const {
  return part_.meeting.host_count == 1 && part_.meeting.own_host == 0;
}

Layout Leader::lay_out_hosts() const {
  LayoutRules rules = layout_rules(part_.options);
  // A preflight is one rank on each host, and not the world that is declared.
  if (!rules.rank_count && !part_.options.preflight) {
    rules.rank_count = part_.meeting.cluster.world_size;
  }
  std::vector<HostSlots> hosts;
  for (std::size_t host = 0; host < part_.meeting.host_count; ++host) {
    hosts.push_back({.name = name_in_table(host),
                     .slot_count = followers_.muster().hello(host).slot_count,
                     .most = part_.meeting.cluster.hosts[host].most_slots});
  }
  Layout layout = lay_out(hosts, rules);
  if (!layout.warning.empty()) complain("warning: " + layout.warning);
  return layout;
}

Peers Leader::peers_of(const Layout& layout) const {
  std::vector<HostPorts> free;
  for (std::size_t host = 0; host < part_.meeting.host_count; ++host) {
    free.push_back(followers_.muster().seats(host).free);
  }
  return describe_peers(layout, free);
}

// As the cluster names it, or else as it names itself.
std::string Leader::name_in_table(std::size_t host) const {
  const std::string& name = part_.meeting.cluster.hosts[host].name;
  return name.empty() ? followers_.muster().hello(host).host : name;
}

JobPlan Leader::plan_job(const Seating& own) const {
  JobPlan plan;
  plan.share = own.share;
  RankTable& table = plan.job.table;
  table.epoch = part_.meeting.cluster.epoch.value_or(0);
  table.source = part_.meeting.cluster.source;
  table.transport = transport_;
  if (base::sharing_over(transport_) == base::Sharing::kIsland) plan.job.islands = islands_;
  table.tuned = part_.options.tuned_file;
  table.rows.resize(own.share.world_size);
  plan.job.may_spin = true;
  for (std::size_t host = 0; host < part_.meeting.host_count; ++host) {
    const Seats& seats = followers_.muster().seats(host);
    const Share& share = shares_[host];
    plan.job.may_spin = plan.job.may_spin && seats.may_spin;
    for (std::size_t local = 0; local < share.ranks.size(); ++local) {
      table.rows[share.ranks[local]] = {.local_rank = share.earlier_count + local,
                                        .host = name_in_table(host),
                                        .address = seats.addresses[local],
                                        .cores = seats.cores[local]};
    }
  }
  plan.job.deadline = part_.options.deadline;
  plan.job.verbose = part_.options.verbose;
  plan.job.encrypts = part_.options.encrypt;
  require_fitting(plan.job, part_.facts);
  plan.why.push_back(std::to_string(part_.meeting.host_count) + " hosts met after " +
                     base::to_text(Clock::now() - start_));
  return plan;
}

KnownDevices Leader::devices() const {
  KnownDevices devices(shares_.front().world_size);
  for (std::size_t host = 0; host < part_.meeting.host_count; ++host) {
    const auto& of_host = followers_.muster().seats(host).devices;
    const auto& ranks = shares_[host].ranks;
    for (std::size_t local = 0; local < ranks.size(); ++local) {
      devices[ranks[local]] = of_host[local];
    }
  }
  return devices;
}

}  // namespace

int lead(Part part) { return Leader(std::move(part)).run(); }

}  // namespace rota::launcher
