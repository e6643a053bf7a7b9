// The beginning of every launch: rotarun finds the program, watches signals, and splits into the
// guard and the process that runs the job.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/job/guard.h"
#include "launcher/ranks/job_event.h"
#include "launcher/ranks/local_ranks.h"
#include "launcher/ranks/rank_environment.h"
#include "os/signals.h"

namespace rota::launcher {

// Prints a line to stderr, before there is any output of ranks with which it could mix. In the
// inner process the line is left out or cut if nobody reads it within a second.
void complain(const std::string& text);

// Watches signals from now on: both processes of rotarun read their signals from this watch. Its
// notices are SIGCHLD, and the signals that go to the ranks: SIGUSR1 and SIGUSR2, without
// options.stop_signal.
os::SignalWatch watch_signals(const Options& options);

// Returns the sentence about a signal for the ranks that has come while no rank runs.
std::string describe_dropped(int signal);

// Returns the number of the next signal that asks this process to end, or nothing if none waits.
// For a time without ranks: prints a sentence for each signal that was for them.
std::optional<int> next_request(os::SignalWatch& signals);

// The programs as found here, by group. A program that cannot run ends a job on one host. In a job
// of several hosts, all hosts must be told about such a program.
struct Found {
  std::vector<std::string> program_paths;
  std::vector<MpiKind> mpi;
  std::vector<std::string> mpi_libraries;
  std::optional<JobEvent> obstacle;
};
// Finds the programs, and decides which MPI they have. `view`: as for check_program().
Found find_program(const Options& options, const std::vector<std::string>& environment,
                   MpiView view);

// Handles --key-fd if no key is needed: reads the descriptor to its end, and closes it. A key that
// stayed in the pipe could be read by other processes that have the pipe open.
void discard_key(const Options& options);

// Runs `run` in the inner process, and returns the exit code in both processes.
int start(const std::vector<std::string>& environment, const Found& found, os::SignalWatch& signals,
          const std::function<int(RunContext& context)>& run, OtherChildren* others = nullptr);

}  // namespace rota::launcher
