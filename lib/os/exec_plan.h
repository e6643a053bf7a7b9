// Turns a forked child into another program. All code that starts processes uses it.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <vector>

#include "os/cpu_set.h"
#include "os/process.h"

namespace rota::os {

inline constexpr int kCannotStart = 127;  // Exit code of a child that could not run its program.

// What the child needs, made before the fork, so that the child allocates nothing.
struct ExecPlan {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  CpuSet cpus;
  std::size_t cpu_bytes = 0;
};

// The result points into `plan`. Throws Error kNoMemory.
ExecPlan prepare(const ProcessPlan& plan);

// Runs in the child of process `parent`, between fork and exec. Makes system calls only. Returns
// only when a system call has failed; errno has the reason.
void become(const ProcessPlan& plan, const ExecPlan& prepared, pid_t parent) noexcept;

std::vector<char*> to_pointers(const std::vector<std::string>& texts);

// Describes an errno value.
StartFailure to_failure(int error_number);

}  // namespace rota::os
