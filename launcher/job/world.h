// One world of a job, from its ranks' start to their end: who they are, what they are given and
// told, and what is decided about their end. A job has one world at a time, and may have several,
// one after the other; processes and output are the job's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "launcher/command/options.h"
#include "launcher/job/exit_policy.h"
#include "launcher/job/other_hosts.h"
#include "launcher/job/report.h"
#include "launcher/plan/job_plan.h"
#include "launcher/ranks/household.h"
#include "launcher/ranks/local_ranks.h"
#include "launcher/ranks/mailroom.h"
#include "os/poll_set.h"
#include "os/signals.h"

namespace rota::launcher {

class World {
 public:
  // All outlive it.
  struct Job {
    const Options& options;
    const RunContext& context;
    os::SignalWatch& signals;
    Household& household;
    OtherHosts* others;     // Null where there is one host.
    base::TimePoint start;  // From which --timeout counts.
  };

  // Its number is that of the plan's share. Throws Error when what it needs cannot be had; nothing
  // has started then.
  World(const Job& job, const JobPlan& plan, Prepared prepared);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Its ranks, on all hosts.
  void start();

  // One turn of a loop. Never blocks.
  void send_all(base::TimePoint now) { switchboard_.send_all(now); }
  void add_to(os::PollSet& polls, base::TimePoint now) { switchboard_.add_to(polls, now); }
  std::optional<base::TimePoint> next_deadline(base::TimePoint now) const;
  void handle(const os::PollSet& polls, base::TimePoint now);
  void on_time(base::TimePoint now);

  // Of this host and of the others. News of another world comes late, and is dropped.
  void hear(const News& news, base::TimePoint now);

  ExitPolicy& policy() noexcept { return policy_; }
  const Share& share() const noexcept { return local_.share(); }

  // Whether its ranks can agree on a step to stop after; and has them do it.
  bool can_stop() const { return switchboard_.can_stop(); }
  void stop() { switchboard_.stop(); }

  // Once the outcome is known: a sentence; and the lines that were the last ones of whoever failed.
  std::string why_it_ends() const;
  std::string words_of_cause();

  // A list of those that have not ended.
  std::string who_runs() const;

  JobStatus status() const;

 private:
  void on_end(const News& news);
  void on_evaluator(const News& news);
  void on_host_lost(const News& news);
  void on_message(std::size_t rank, const rendezvous::Message& message);
  std::string last_words_of(std::size_t rank);
  void say_if_verbose(const std::string& line);

  Job job_;
  std::uint32_t number_;
  base::TimePoint now_;  // Of the turn.
  ExitPolicy policy_;
  std::vector<RankName> names_;
  std::vector<std::vector<std::string>> last_words_;  // By rank, of those that failed.
  std::vector<RankName> evaluators_;                  // By number, as far as they have started.
  std::vector<std::string> evaluator_words_;          // The last ones of the first that failed.
  RankTable table_;                                   // With the addresses.
  KnownDevices devices_;
  Peers peers_;
  LocalRanks local_;
  Mailroom mailroom_;
  rendezvous::Switchboard& switchboard_;
};

}  // namespace rota::launcher
