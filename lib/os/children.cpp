// Finds the children of this process in the kernel's list, or else by testing each process number.
#include "os/children.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace rota::os {
namespace {

constexpr pid_t kHighestPid = 4 * 1024 * 1024;  // The highest on any kernel: PID_MAX_LIMIT.

bool is_child(pid_t pid) noexcept {
  siginfo_t info;
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

bool has_child() noexcept {
  siginfo_t info;
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

bool signal_child(pid_t pid, int signal) noexcept {
  if (!is_child(pid)) return false;
  ::kill(pid, signal);
  return true;
}

// Uses the kernel's list of children. Some kernels are built without it. If /proc belongs to
// another PID namespace, the numbers in the list mean other processes, so each number is checked.
int signal_listed(int signal) noexcept {
  const int file = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  int count = 0;
  pid_t number = 0;
  char bytes[512];
  for (;;) {
    const ssize_t length = ::read(file, bytes, sizeof bytes);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) break;
    for (ssize_t i = 0; i < length; ++i) {
      if (bytes[i] >= '0' && bytes[i] <= '9') {
        number = number * 10 + (bytes[i] - '0');
      } else if (number > 0) {
        count += signal_child(number, signal) ? 1 : 0;
        number = 0;
      }
    }
  }
  ::close(file);
  return count;
}

int signal_between(pid_t first, pid_t last, int signal) noexcept {
  int count = 0;
  for (pid_t pid = first; pid <= last; ++pid) count += signal_child(pid, signal) ? 1 : 0;
  return count;
}

// Returns the number of a process that starts now, or 0 when no process can be started.
pid_t newest_pid() noexcept {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  if (pid < 0) return 0;
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return pid;
}

}  // namespace

// The kernel gives process numbers in order, so most children have a number between this process's
// number and the newest number. Testing all possible numbers takes half a second.
int signal_children(int signal) noexcept {
  if (!has_child()) return 0;
  int count = signal_listed(signal);
  if (count == 0) count = signal_between(::getpid() + 1, newest_pid(), signal);
  if (count == 0) count = signal_between(1, kHighestPid, signal);
  return count;
}

}  // namespace rota::os
