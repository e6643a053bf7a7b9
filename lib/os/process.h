// Starting other processes, learning how they end, and ending all that descend from this one.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "os/fd.h"
#include "os/signals.h"

namespace rota::os {

struct ProcessPlan {
  std::string program;                   // A path; nothing is searched for it.
  std::vector<std::string> arguments;    // argv[0] included.
  std::vector<std::string> environment;  // "NAME=VALUE", all of it.
  std::string working_directory;         // Empty: ours.
  int standard_input = 0;                // What become the descriptors 0, 1 and 2.
  int standard_output = 1;
  int standard_error = 2;
  int kept_fd = -1;                   // Stays open in the child, under the number that it has here.
  std::vector<int> cpus;              // Those it may run on; empty: ours.
  SignalState signals;                // Mask and dispositions that it starts with.
  std::uint64_t open_file_limit = 0;  // 0: ours.
  bool own_session = false;           // Away from our terminal.
};

// Starts a child that is killed when the calling thread's process dies. One whose program cannot be
// run exits with 127. Throws Error kSystem, kNoMemory when no process can be had.
pid_t start_process(const ProcessPlan& plan);

struct StartFailure {
  int error_number = 0;
  std::string text;         // "Exec format error"
  bool is_missing = false;  // There is no such file.
};

// The path of `name`, as a process in `working_directory` with this PATH would find it. Fills
// `failure` and returns an empty text where there is none that can be run.
std::string find_program(const std::string& name, const std::string& search_path,
                         const std::string& working_directory, StartFailure& failure);

// Runs another program in place of this one, with our environment; returns where it cannot.
StartFailure become_program(const std::string& program, const std::vector<std::string>& arguments);

struct ProcessEvent {
  enum class Kind { kExited, kKilled, kStopped, kContinued };
  pid_t pid = -1;
  Kind kind = Kind::kExited;
  int value = 0;  // The exit code, or the number of the signal.
};

// `status`: as waitpid gives it.
ProcessEvent to_event(pid_t pid, int status) noexcept;

struct ProcessEvents {
  std::optional<ProcessEvent> event;
  bool has_children = true;  // False: none is left, and there will be no more events.
};

// Reaps at most one child, adopted ones too, without blocking.
ProcessEvents next_process_event();

// Splits this process in two; the new one gets 0, the old one the new one's id. Throws Error
// kSystem, kNoMemory.
pid_t fork_process();

// Sends a signal to one process; one that has gone is no error.
void send_signal(pid_t pid, int signal) noexcept;

// From now on this process adopts its descendants whose own parent has ended.
void adopt_orphans();

// Asks for `signal` when the parent, which is process `parent`, dies. Exits at once when that has
// happened already.
void die_with_parent(pid_t parent, int signal);

// The children of `parent`, and their children and so on; as of now, so it may miss newborn ones.
// From /proc: empty where there is none, or where it is not of our processes.
std::vector<pid_t> descendants_of(pid_t parent);

// Sends `signal` to the descendants of `root`, which is this process or a child that nobody has
// reaped; returns how many that were. Nobody else is met, though a number be given anew between
// reading and signalling, where the kernel can hold processes (Linux 5.3).
std::size_t signal_descendants_of(pid_t root, int signal) noexcept;

// Sends `signal` to all descendants of this process; where /proc shows none, to its children.
void signal_descendants(int signal) noexcept;

// Kills and reaps until nothing descends from this process, for at most `limit`; without /proc as
// well, as the orphans come to this process, if it adopts them. False when something is left then,
// which only a process stuck in the kernel can cause.
bool end_descendants(base::Duration limit) noexcept;

}  // namespace rota::os
