// Starts a process, and signals and ends it together with all processes that it starts,
// grandchildren and daemons included. An ordinary user can do this, without control groups.
//
// The first process is a child of a keeper, a small process between this process and the first
// process (see keeper.h). The keeper adopts processes that leave their session and lose their
// parents, so these processes stay in the tree. When this process dies in any way, the keeper ends
// the tree. The tree can outlive its keeper only if someone kills the keeper itself. The first
// process then dies with the keeper. The other processes become children of this process if it
// adopts orphans.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/time.h"
#include "os/fd.h"
#include "os/process.h"

namespace rota::os {

// Lets a keeper notice that this process has lost its parent but does not act, because this process
// is stopped or hangs. The keeper then wakes this process, and kills it after five seconds without
// a heartbeat. Before Linux 5.3 the keeper does not check.
struct Oversight {
  pid_t guard = 0;  // The parent of this process; 0: no check.
  // Heartbeats, in shared memory. Null: this process gives no heartbeat.
  const std::atomic<std::uint64_t>* beats = nullptr;
};

class ProcessTree {
 public:
  ProcessTree() = default;  // No processes.
  // Throws Error kSystem, or kNoMemory when no process can be made. take_start_failure() reports
  // later whether the program could be run.
  explicit ProcessTree(const ProcessPlan& plan, const Oversight& oversight = {});
  ProcessTree(ProcessTree&& other) noexcept;
  ProcessTree& operator=(ProcessTree&& other) noexcept;
  // Tells the keeper to end all processes that are left, and does not wait for their end.
  ~ProcessTree();

  pid_t pid() const noexcept { return pid_; }  // The first process.
  pid_t keeper() const noexcept { return keeper_; }

  // Readable when next_event() has an event. Empty when no more events will come.
  const Fd& events() const noexcept { return events_; }

  // Returns the next event of the first process. If the keeper ends before it has reported the end
  // of the first process, the event is a kill, as the first process dies with its keeper. Never
  // blocks.
  std::optional<ProcessEvent> next_event();

  // Returns why the program could not be run, after next_event() has read the failure. Returns each
  // failure only once.
  std::optional<StartFailure> take_start_failure();

  // Signals the whole tree. Without /proc, only SIGKILL reaches the whole tree; any other signal
  // reaches only the first process. The keeper sends SIGKILL, and repeats it, so that processes
  // that start meanwhile do not escape.
  void signal(int signal) noexcept;

  // Signals the first process only. Does nothing once that process has ended. A suspended process
  // acts on the signal when it is woken.
  void signal_first(int signal) noexcept;

  // Kills the whole tree, and waits for its end for at most `limit`. Returns false when a process
  // is left, or when the keeper was killed.
  bool end(base::Duration limit) noexcept;

  // Must be called when next_process_event() has reaped the keeper.
  void on_keeper_end() noexcept { keeper_ = -1; }

  // Must be called when end_descendants() has ended the tree and its keeper. No more events come.
  void on_end() noexcept {
    keeper_ = -1;
    events_.reset();
  }

 private:
  void wait_for_start();

  pid_t pid_ = -1;
  pid_t keeper_ = -1;
  Fd events_;
  bool has_ended_ = false;  // The first process has ended.
  std::optional<StartFailure> start_failure_;
};

}  // namespace rota::os
