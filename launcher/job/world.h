// A World is one world of a job, from its ranks' start to their end: it knows which ranks there
// are, what they receive, and how their end is decided. A job has one world at a time, and may have
// several, one after another. Processes and output belong to the job.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "launcher/command/options.h"
#include "launcher/job/end_report.h"
#include "launcher/job/exit_policy.h"
#include "launcher/job/mpi_world.h"
#include "launcher/job/other_hosts.h"
#include "launcher/plan/job_plan.h"
#include "launcher/ranks/local_processes.h"
#include "launcher/ranks/local_ranks.h"
#include "launcher/ranks/rank_channels.h"
#include "launcher/ranks/signal_echoes.h"
#include "os/poll_set.h"
#include "os/signals.h"

namespace rota::launcher {

class World {
 public:
  // All references must outlive the world.
  struct Job {
    const Options& options;
    const RunContext& context;
    os::SignalWatch& signals;
    LocalProcesses& processes;
    OtherHosts* others;     // Null if there is one host.
    base::TimePoint start;  // --timeout counts from here.
  };

  // The world's number is in the plan's assignment. Throws Error if something that the world needs
  // is missing; in this case nothing has started.
  World(const Job& job, const JobPlan& plan, Prepared prepared);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Starts the ranks of the world, on all hosts.
  void start();

  // Each of these functions makes one iteration of a loop, and never blocks.
  void send_all(base::TimePoint now) { router_.send_all(now); }
  void add_to(os::PollSet& polls, base::TimePoint now);
  std::optional<base::TimePoint> next_deadline(base::TimePoint now) const;
  void handle(const os::PollSet& polls, base::TimePoint now);
  void on_time(base::TimePoint now);

  // Takes a job event of this host or of another one. An event of another world is late, and is
  // dropped.
  void hear(const JobEvent& event, base::TimePoint now);

  // Passes a signal on to the first process of each rank, on all hosts. Drops an echo. `way`: as
  // for SignalEchoes::is_echo().
  void signal_ranks(int number, const std::string& way, base::TimePoint now);

  ExitPolicy& policy() noexcept { return policy_; }
  const HostAssignment& assignment() const noexcept { return local_.assignment(); }

  // can_stop() returns whether the ranks can agree on a step to stop after. stop() makes the ranks
  // agree.
  bool can_stop() const { return router_.can_stop(); }
  void stop() { router_.stop(); }

  // Call these once the outcome is known. why_it_ends() returns a sentence. words_of_cause()
  // returns the last lines of output of the member that failed.
  std::string why_it_ends() const;
  std::string words_of_cause();

  // Returns a list of the ranks and evaluators that have not ended.
  std::string who_runs() const;

  JobStatus status() const;

 private:
  void on_end(const JobEvent& event);
  void on_evaluator(const JobEvent& event);
  void on_host_lost(const JobEvent& event);
  void watch_mpi(base::TimePoint now);
  void on_fenced(const JobEvent& event);
  void on_letter(const JobEvent& event);
  void on_message(std::size_t rank, const rendezvous::Message& message);
  std::string last_words_of(std::size_t rank);
  void say_if_verbose(const std::string& line);

  Job job_;
  std::uint32_t number_;
  base::TimePoint now_;  // The time of the current iteration.
  ExitPolicy policy_;
  std::vector<RankName> names_;
  std::vector<std::vector<std::string>> last_words_;  // By rank, for ranks that failed.
  std::vector<RankName> evaluators_;                  // By number, if they have started.
  std::vector<std::string> evaluator_words_;  // The last words of the first evaluator that failed.
  RankTable table_;                           // With the addresses of the ranks.
  KnownDevices devices_;
  Peers peers_;
  MpiWorld mpi_world_;
  SignalEchoes echoes_;
  LocalRanks local_;
  RankChannels rank_channels_;
  rendezvous::MessageRouter& router_;
};

}  // namespace rota::launcher
