// A process with all that it starts, grandchildren and daemons included: started, signalled and
// ended as one, by an ordinary user and without control groups.
//
// Its first process is a child of a keeper, a small process that stays between it and this one (see
// keeper.h). What leaves its session and its parents comes to the keeper, so it stays in the tree.
// When this process dies, however that is, the keeper ends the tree. Only whoever kills the keeper
// itself sets the tree free: the first process dies then, the rest goes to this process, if it
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

// How a keeper knows that this process does not act on the end of its own parent, as it is stopped
// or hangs. The keeper wakes it then, and kills it where it stays silent for five seconds. Before
// Linux 5.3 nobody looks.
struct Oversight {
  pid_t guard = 0;  // The parent of this process; 0: nobody looks.
  const std::atomic<std::uint64_t>* beats = nullptr;  // In shared memory; null: it is silent.
};

class ProcessTree {
 public:
  ProcessTree() = default;  // Of no processes.
  // Throws Error kSystem, kNoMemory when no process can be had. Whether the program could be run
  // shows later, at start_failure().
  explicit ProcessTree(const ProcessPlan& plan, const Oversight& oversight = {});
  ProcessTree(ProcessTree&& other) noexcept;
  ProcessTree& operator=(ProcessTree&& other) noexcept;
  // Tells the keeper to end what is left, and does not wait for that.
  ~ProcessTree();

  pid_t pid() const noexcept { return pid_; }  // Of the first process.
  pid_t keeper() const noexcept { return keeper_; }

  // Readable when next_event() has something; none when nothing more will come.
  const Fd& events() const noexcept { return events_; }

  // What has happened to the first process. Once the keeper has gone there is an end of it, if it
  // was not heard before: a kill, as it dies with its keeper. Never blocks.
  std::optional<ProcessEvent> next_event();

  // Why the program could not be run, once next_event() has come across that; then empty again.
  std::optional<StartFailure> take_start_failure();

  // Signals all of the tree. Without /proc SIGKILL alone does; another signal reaches the first
  // process. SIGKILL is the keeper's to spread, so that nothing gets away that is born meanwhile.
  void signal(int signal) noexcept;

  // Kills all of the tree, and waits until that is gone, for at most `limit`. False where something
  // stays, or the keeper was killed.
  bool end(base::Duration limit) noexcept;

  // For whoever has reaped the keeper by next_process_event().
  void on_keeper_end() noexcept { keeper_ = -1; }

 private:
  void wait_for_start();

  pid_t pid_ = -1;
  pid_t keeper_ = -1;
  Fd events_;
  bool has_ended_ = false;  // The first process.
  std::optional<StartFailure> start_failure_;
};

}  // namespace rota::os
