// A keeper is a process between this process and a process tree. It is a forked child of this
// process and runs no program. It adopts the tree's orphans and reports through a pipe what happens
// to the tree's first process. The keeper ends when no process of the tree is left. It ends the
// tree when it gets the signal for that, or when its parent dies. A stopped parent does not notice
// when its own parent ends: the keeper then wakes or kills the stopped parent.
#pragma once
#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "os/exec_plan.h"
#include "os/process.h"

namespace rota::os {

// A record in the pipe. A record always arrives whole.
struct KeeperRecord {
  enum class Kind : int { kStarted, kNoProcess, kNoProgram, kChanged };
  Kind kind = Kind::kStarted;
  int value = 0;  // kStarted: process ID; kNo…: errno; kChanged: waitpid status.
};

// The signals that a keeper obeys. The first signal carries the number of another signal, which the
// keeper sends to the tree's first process. The second signal tells the keeper to end the tree.
inline int pass_on_signal() noexcept { return SIGRTMIN; }
inline int end_all_signal() noexcept { return SIGRTMIN + 1; }

// The processes and descriptors that a keeper watches and reports to.
struct KeeperLinks {
  pid_t parent = -1;
  int pipe = -1;   // To the parent.
  int guard = -1;  // Readable once the parent's parent has ended; -1: not watched.
  // The parent's heartbeats, in shared memory. Null: the parent gives no heartbeat.
  const std::atomic<std::uint64_t>* beats = nullptr;
};

// Runs in the forked child of process `links.parent`: starts the program of `plan` and keeps its
// tree. Allocates nothing.
[[noreturn]] void keep(const ProcessPlan& plan, const ExecPlan& prepared,
                       const KeeperLinks& links) noexcept;

}  // namespace rota::os
