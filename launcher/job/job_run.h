// A job from its first process to its last, where it is decided when it is over and why: on its
// only host, or on the first of several. The loop hears the ranks, passes on what they write, and
// ends them.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/job/exit_policy.h"
#include "launcher/job/other_hosts.h"
#include "launcher/job/report.h"
#include "launcher/plan/job_plan.h"
#include "launcher/ranks/household.h"
#include "launcher/ranks/local_ranks.h"
#include "launcher/ranks/mailroom.h"
#include "launcher/status/status_port.h"
#include "os/poll_set.h"
#include "os/signals.h"

namespace rota::launcher {

class JobRun {
 public:
  // All outlive it; `others` is null where there is one host. Throws Error when what the job needs
  // cannot be had; nothing has started then.
  JobRun(const Options& options, const JobPlan& plan, Prepared prepared, const RunContext& context,
         os::SignalWatch& signals, OtherHosts* others = nullptr);

  // Returns the exit code. Nothing that descends from this process is left then.
  int run();

 private:
  void turn();
  void wait();
  void hear_signals();
  void on_guard_lost();
  void hear(const News& news);
  void on_end(const News& news);
  void on_evaluator(const News& news);
  void on_host_lost(const News& news);
  void on_message(std::size_t rank, const rendezvous::Message& message);
  bool has_processes() const;
  void terminate();
  void stop_by_agreement();
  void release();
  std::string why_it_ends();
  std::string hint_for_a_person() const;
  std::string last_words_of(std::size_t rank);
  void kill();
  int finish();
  void tell_others_the_end();
  void write_rest();
  void serve_status();
  JobStatus status() const;
  void say_if_verbose(const std::string& line);

  const Options& options_;
  const JobPlan& plan_;
  const RunContext& context_;
  os::SignalWatch& signals_;
  OtherHosts* others_;
  base::TimePoint start_;
  base::TimePoint now_;
  ExitPolicy policy_;
  std::vector<RankName> names_;
  std::vector<std::vector<std::string>> last_words_;  // By rank, of those that failed.
  std::vector<RankName> evaluators_;                  // By number, as far as they have started.
  std::vector<std::string> evaluator_words_;          // The last ones of the first that failed.
  RankTable table_;                                   // With the addresses.
  KnownDevices devices_;
  Peers peers_;
  Household household_;
  LocalRanks local_;
  Mailroom mailroom_;
  rendezvous::Switchboard& switchboard_;
  std::optional<StatusPort> status_port_;
  os::PollSet polls_;
  std::size_t signal_position_ = 0;
  bool is_done_ = false;            // With success, on all hosts.
  bool ranks_have_signal_ = false;  // It was typed at the terminal that they share with us.
};

}  // namespace rota::launcher
