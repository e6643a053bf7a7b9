// Starts processes, reports how they end, and ends all descendants of this process.
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
  std::string program;                   // A path; PATH is not searched.
  std::vector<std::string> arguments;    // argv[0] included.
  std::vector<std::string> environment;  // "NAME=VALUE", all variables.
  std::string working_directory;         // Empty: as this process.
  int standard_input = 0;                // These three become descriptors 0, 1 and 2.
  int standard_output = 1;
  int standard_error = 2;
  std::vector<int> kept_fds;          // Stay open in the child, under the same numbers.
  std::vector<int> cpus;              // The child's CPUs; empty: as this process.
  SignalState signals;                // Mask and dispositions at the child's start.
  std::uint64_t open_file_limit = 0;  // 0: as this process.
  bool own_session = false;           // A new session, without this process's terminal.
};

// Starts a child that the kernel kills when the calling thread ends. A child whose program cannot
// be run exits with 127. Throws Error kSystem, or kNoMemory when no process can be made.
pid_t start_process(const ProcessPlan& plan);

struct StartFailure {
  int error_number = 0;
  std::string text;         // "Exec format error"
  bool is_missing = false;  // There is no such file.
};

// Returns the path of the program `name`. Searches as a process in `working_directory` whose PATH
// is `search_path` would search. If `search_path` is empty, searches the usual folders of programs.
// When no such file can be run, fills `failure` and returns an empty string.
std::string find_program(const std::string& name, const std::string& search_path,
                         const std::string& working_directory, StartFailure& failure);

// Runs another program in place of this one, with the same environment. Returns only on failure.
StartFailure become_program(const std::string& program, const std::vector<std::string>& arguments);

struct ProcessEvent {
  enum class Kind { kExited, kKilled, kStopped, kContinued };
  pid_t pid = -1;
  Kind kind = Kind::kExited;
  int value = 0;  // The exit code, or the number of the signal.
};

// Makes an event of a status that waitpid() returned.
ProcessEvent to_event(pid_t pid, int status) noexcept;

struct ProcessEvents {
  std::optional<ProcessEvent> event;
  bool has_children = true;  // False: no child is left, so no more events come.
};

// Returns the next event of any child, adopted ones too. Reaps the child if it has ended. Never
// blocks.
ProcessEvents next_process_event();

// Forks this process. Returns 0 in the child, and the process ID of the child in the parent. Throws
// Error kSystem, kNoMemory.
pid_t fork_process();

// Sends a signal to one process. Does nothing if the process is gone.
void send_signal(pid_t pid, int signal) noexcept;

// Returns the name of a process, as ps shows it, such as "sleep". The name is empty if the process
// is gone, or if /proc is missing.
std::string process_name(pid_t pid);

// From now on this process adopts its descendants whose own parent has ended. Returns false if the
// system refuses that, as emulators of processes do.
bool adopt_orphans() noexcept;

// Asks the kernel to send `signal` to this process when its parent, process `parent`, dies. Exits
// immediately when the parent has already died.
void die_with_parent(pid_t parent, int signal);

// Returns the children of `parent`, their children, and so on. The list is a snapshot, so it may
// miss processes that start now. The list comes from /proc: it is empty when /proc is missing or
// belongs to another PID namespace.
std::vector<pid_t> descendants_of(pid_t parent);

// Sends `signal` to the descendants of `root` and returns the number of descendants. `root` is this
// process, or a child that is not reaped yet. From Linux 5.3 on, each process is held by a
// descriptor. So the signal reaches no other process, even if the kernel reuses a process number
// between reading and signalling.
std::size_t signal_descendants_of(pid_t root, int signal) noexcept;

// Sends `signal` to all descendants of this process, or to its children when /proc shows none.
void signal_descendants(int signal) noexcept;

// Kills and reaps descendants until this process has none, for at most `limit`. Also works without
// /proc if this process adopts orphans, because the orphans then become its children. Returns false
// when a process is left at the limit: only a process stuck in the kernel can be left.
bool end_descendants(base::Duration limit) noexcept;

}  // namespace rota::os
