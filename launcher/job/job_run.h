// A job from its first process to its last, where it is decided when it is over and why: on its
// only host, or on the first of several. Has what lives as long as the job: processes and what they
// write, signals, the status port. The loop hears all of them for the world, and acts on what is
// decided there.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "launcher/command/options.h"
#include "launcher/job/other_hosts.h"
#include "launcher/job/world.h"
#include "launcher/plan/job_plan.h"
#include "launcher/ranks/household.h"
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
  Household household_;
  World world_;
  os::PollSet polls_;
  std::size_t signal_position_ = 0;
  bool is_done_ = false;            // With success, on all hosts.
  bool ranks_have_signal_ = false;  // It was typed at the terminal that they share with us.
};

}  // namespace rota::launcher
