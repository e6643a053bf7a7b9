// The process between this one and a tree of processes: a split of this one that runs no program,
// to which the tree's orphans come. It tells by a pipe what happens to the tree's first process,
// ends once nothing is left, and ends the tree when it is told to, or when its parent dies. A
// parent that has lost its own may be stopped and know nothing of that: the keeper wakes or ends
// it.
#pragma once
#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "os/exec_plan.h"
#include "os/process.h"

namespace rota::os {

// What comes through the pipe, whole each time.
struct KeeperRecord {
  enum class Kind : int { kStarted, kNoProcess, kNoProgram, kChanged };
  Kind kind = Kind::kStarted;
  int value = 0;  // The process's number; errno; what waitpid gave.
};

// What a keeper is told by: a signal with the number of one that it is to pass on; and to end all.
inline int pass_on_signal() noexcept { return SIGRTMIN; }
inline int end_all_signal() noexcept { return SIGRTMIN + 1; }

// Whom a keeper tells by.
struct KeeperLinks {
  pid_t parent = -1;
  int pipe = -1;   // To the parent.
  int guard = -1;  // Readable once the parent's parent has ended; -1: nobody looks for that.
  const std::atomic<std::uint64_t>* beats = nullptr;  // The parent's, in shared memory, or null.
};

// In the split of process `links.parent`: starts what `plan` says and keeps it. Allocates nothing.
[[noreturn]] void keep(const ProcessPlan& plan, const ExecPlan& prepared,
                       const KeeperLinks& links) noexcept;

}  // namespace rota::os
