// Runs a job from its first process to its last, on the host that decides when the job is over and
// why: the only host, or the leader. Owns the parts that last as long as the job: processes and
// their output, signals, the status port. The loop passes all events to the world, and carries out
// the world's decisions.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "launcher/command/options.h"
#include "launcher/job/other_hosts.h"
#include "launcher/job/world.h"
#include "launcher/plan/job_plan.h"
#include "launcher/ranks/local_processes.h"
#include "launcher/status/status_port.h"
#include "os/poll_set.h"
#include "os/signals.h"

namespace rota::launcher {

class JobRun {
 public:
  // All references must outlive this object. `others` is null if there is one host. Throws Error if
  // something that the job needs is missing. In this case nothing has started.
  JobRun(const Options& options, const JobPlan& plan, Prepared prepared, const RunContext& context,
         os::SignalWatch& signals, OtherHosts* others = nullptr);

  // Returns the exit code. When run() returns, no descendant of this process is left.
  int run();

 private:
  void turn();
  void wait();
  void hear_signals();
  void on_guard_lost();
  ExitPolicy& policy() noexcept { return world_.policy(); }
  bool has_processes() const;
  void terminate();
  void stop_by_agreement();
  void release();
  std::string hint_for_a_person() const;
  void kill();
  int finish();
  void tell_others_the_end();
  void write_rest();
  void serve_status(const JobPlan& plan);
  JobStatus status() const;

  const Options& options_;
  const RunContext& context_;
  os::SignalWatch& signals_;
  OtherHosts* others_;
  base::TimePoint start_;
  base::TimePoint now_;
  std::optional<StatusPort> status_port_;
  LocalProcesses processes_;
  World world_;
  os::PollSet polls_;
  std::size_t signal_position_ = 0;
  bool is_done_ = false;            // The job ended with success, on all hosts.
  bool has_killed_ = false;         // All processes, detached ones too.
  bool ranks_have_signal_ = false;  // The signal came from the terminal, so the ranks here got it.
};

}  // namespace rota::launcher
