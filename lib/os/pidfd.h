// Holds a process by a descriptor, so that a signal never reaches a later process with the same
// number.
#pragma once
#include <sys/types.h>

#include "os/fd.h"

namespace rota::os {

// The handle is empty when the process is gone (then `is_gone` is set), when the kernel has no such
// descriptors (before Linux 5.3), or when no more descriptors are available.
struct HeldProcess {
  pid_t pid = -1;
  Fd handle;
  bool is_gone = false;
};
HeldProcess hold_process(pid_t pid) noexcept;

// Sends `signal` to the process. Without a handle, sends it to the process that has the number now.
// Returns false when the process is gone. Signal 0 only checks whether the process exists.
bool signal_held(const HeldProcess& process, int signal) noexcept;

}  // namespace rota::os
