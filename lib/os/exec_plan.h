// What turns a split of this process into a program: used by what starts processes.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <vector>

#include "os/cpu_set.h"
#include "os/process.h"

namespace rota::os {

inline constexpr int kCannotStart = 127;  // What a split exits with that could not be the program.

// What the child needs, made before the fork, so that nothing is allocated after it.
struct ExecPlan {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  CpuSet cpus;
  std::size_t cpu_bytes = 0;
};

// Points into `plan`. Throws Error kNoMemory.
ExecPlan prepare(const ProcessPlan& plan);

// Runs in the child of process `parent`, between fork and exec: system calls only. Returns when one
// of them failed, with errno.
void become(const ProcessPlan& plan, const ExecPlan& prepared, pid_t parent) noexcept;

std::vector<char*> to_pointers(const std::vector<std::string>& texts);

// Which error that number is.
StartFailure to_failure(int error_number);

}  // namespace rota::os
