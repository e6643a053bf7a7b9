// A job from its first process to its last: starts the ranks, and runs the loop that hears them,
// passes on what they write, and ends them.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "launcher/exit_policy.h"
#include "launcher/job_plan.h"
#include "launcher/mailroom.h"
#include "launcher/options.h"
#include "launcher/rank_output.h"
#include "launcher/report.h"
#include "launcher/status_port.h"
#include "os/poll_set.h"
#include "os/process.h"
#include "os/signals.h"

namespace rota::launcher {

// What a run needs beside the options and the plan.
struct RunContext {
  std::string program_path;              // Found and runnable when it was looked for.
  std::vector<std::string> environment;  // Rotarun's own.
  std::uint64_t open_file_limit = 0;     // What the ranks are to have.
  pid_t guard = 0;
};

class JobRun {
 public:
  // Throws Error when what the job needs cannot be had; nothing has started then.
  JobRun(const Options& options, const JobPlan& plan, RunContext context, os::SignalWatch& signals);

  // Returns the exit code. Nothing that descends from this process is left then.
  int run();

 private:
  struct Rank {
    os::Fd start_failure;
    std::size_t position = 0;
  };

  void start_ranks();
  void start_rank(std::size_t rank);
  void wait();
  void hear_signals();
  void hear_starts();
  void hear_start(std::size_t rank);
  void hear_processes();
  void on_process(const os::ProcessEvent& event);
  void on_message(std::size_t rank, const rendezvous::Message& message);
  void terminate();
  void kill();
  int finish();
  JobStatus status() const;
  void say(const std::string& line) { output_.say("rotarun: " + line + "\n"); }
  void say_if_verbose(const std::string& line);

  const Options& options_;
  const JobPlan& plan_;
  RunContext context_;
  os::SignalWatch& signals_;
  RankOutput output_;
  Mailroom mailroom_;
  rendezvous::Switchboard& switchboard_;
  os::Fd null_;
  base::TimePoint start_;
  ExitPolicy policy_;
  std::optional<StatusPort> status_port_;
  std::vector<Rank> ranks_;
  std::vector<RankName> names_;
  std::unordered_map<pid_t, std::size_t> rank_of_;
  os::PollSet polls_;
  std::size_t signal_position_ = 0;
  bool has_children_ = false;
  bool ranks_have_signal_ = false;  // It was typed at the terminal that they share with us.
  base::TimePoint now_;
};

}  // namespace rota::launcher
