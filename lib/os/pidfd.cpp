// Holds processes by descriptors, with system calls for which the C library may lack functions.
#include "os/pidfd.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#if !defined(SYS_pidfd_send_signal)
#define SYS_pidfd_send_signal 424  // The same on x86, ARM, POWER and RISC-V.
#endif
#if !defined(SYS_pidfd_open)
#define SYS_pidfd_open 434
#endif

namespace rota::os {

HeldProcess hold_process(pid_t pid) noexcept {
  HeldProcess held{.pid = pid, .handle = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)))};
  held.is_gone = !held.handle && errno == ESRCH;
  return held;
}

bool signal_held(const HeldProcess& process, int signal) noexcept {
  if (process.is_gone) return false;
  if (!process.handle) return ::kill(process.pid, signal) == 0 || errno != ESRCH;
  const int handle = process.handle.get();
  if (::syscall(SYS_pidfd_send_signal, handle, signal, nullptr, 0) == 0) return true;
  // A filter of system calls may allow pidfd_open and refuse pidfd_send_signal.
  if (errno == ENOSYS) return ::kill(process.pid, signal) == 0 || errno != ESRCH;
  return errno != ESRCH;
}

}  // namespace rota::os
