// A process that is held by a descriptor, so that a signal reaches it and never a later process of
// the same number.
#pragma once
#include <sys/types.h>

#include "os/fd.h"

namespace rota::os {

// Empty where the process has gone, or the kernel has no such descriptors (before Linux 5.3) or no
// more of them; `is_gone` tells these apart.
struct HeldProcess {
  pid_t pid = -1;
  Fd handle;
  bool is_gone = false;
};
HeldProcess hold_process(pid_t pid) noexcept;

// Without a handle to the process that has the number now. False where it has gone. Signal 0 only
// asks.
bool signal_held(const HeldProcess& process, int signal) noexcept;

}  // namespace rota::os
