// Does a keeper's work from its start to its end. A keeper makes system calls only, because it is
// forked from a process that may have threads.
#include "os/keeper.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/time.h"
#include "os/children.h"
#include "os/pidfd.h"

#if !defined(SYS_close_range)
#define SYS_close_range 436  // The same on x86, ARM, POWER and RISC-V.
#endif

namespace rota::os {
namespace {

constexpr timespec kPauseBetweenKills{0, 1'000'000};

// If the keeper's parent has lost its own parent, the keeper wakes its parent after each
// kPauseBetweenLooks. If the parent gives no heartbeat for kMostSilence, the keeper kills it.
constexpr timespec kPauseBetweenLooks{0, 500'000'000};
constexpr auto kMostSilence = std::chrono::seconds(5);

// Ignores a failed write: the reader of the pipe may be gone.
void tell(int pipe, KeeperRecord::Kind kind, int value) noexcept {
  const KeeperRecord record{kind, value};
  while (::write(pipe, &record, sizeof record) < 0 && errno == EINTR) {
  }
}

void close_between(unsigned first, unsigned last) noexcept {
  if (first > last || ::syscall(SYS_close_range, first, last, 0) == 0) return;
  // Linux before 5.9 has no close_range. Closing every number up to the limit of open files may
  // take minutes, so the loop ends at 65536.
  constexpr unsigned kMostOfALauncher = 1U << 16;
  for (unsigned number = first; number <= last && number < kMostOfALauncher; ++number) {
    ::close(static_cast<int>(number));
  }
}

// Closes the descriptors that the keeper inherited from its parent: if the keeper kept the parent's
// pipes and sockets open, their peers would not see that the parent has closed them. Then leaves
// the parent's process group, terminal and process name: a signal to all processes of that group,
// terminal or name must not reach a keeper.
void withdraw(const KeeperLinks& links) noexcept {
  const auto pipe = static_cast<unsigned>(links.pipe);
  const auto guard = links.guard < 0 ? pipe : static_cast<unsigned>(links.guard);
  const auto [first, last] = std::minmax({pipe, guard});
  if (first > 0) close_between(0, first - 1);
  close_between(first + 1, last - 1);
  close_between(last + 1, ~0U);
  ::setsid();
  ::prctl(PR_SET_NAME, "rota-keeper");
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  (void)!::chdir("/");
}

class Keeper {
 public:
  Keeper(pid_t first, const KeeperLinks& links) noexcept : first_(first), links_(links) {
    sigemptyset(&heard_);
    for (const int number : {SIGCHLD, pass_on_signal(), end_all_signal()}) {
      sigaddset(&heard_, number);
    }
    if (links_.guard >= 0) signals_ = ::signalfd(-1, &heard_, SFD_CLOEXEC | SFD_NONBLOCK);
  }

  // Runs until no process is left to keep.
  void run() noexcept {
    while (reap()) {
      is_ending_ = is_ending_ || ::getppid() != links_.parent;
      if (is_ending_) {
        signal_children(SIGKILL);
        ::nanosleep(&kPauseBetweenKills, nullptr);
        continue;
      }
      siginfo_t info;
      const int number = next_signal(info);
      if (number == end_all_signal()) is_ending_ = true;
      if (number == pass_on_signal() && first_ > 0) ::kill(first_, info.si_value.sival_int);
    }
  }

 private:
  // Returns the next signal, or -1 when it is time to check the parent again.
  int next_signal(siginfo_t& info) noexcept {
    if (has_lost_guard_) {
      rouse_parent();
      return ::sigtimedwait(&heard_, &info, &kPauseBetweenLooks);
    }
    if (signals_ < 0) return ::sigwaitinfo(&heard_, &info);
    pollfd polls[] = {{signals_, POLLIN, 0}, {links_.guard, POLLIN, 0}};
    if (::poll(polls, 2, -1) < 0 && errno != EINTR) signals_ = -1;
    has_lost_guard_ = polls[1].revents != 0;
    constexpr timespec kAtOnce{0, 0};
    return ::sigtimedwait(&heard_, &info, &kAtOnce);
  }

  // Wakes the parent, which has lost its own parent. Kills the parent if it gives no heartbeat. A
  // parent that is stopped or hangs does not act on the end of its own parent.
  void rouse_parent() noexcept {
    const HeldProcess parent = hold_process(links_.parent);
    if (::getppid() != links_.parent) return;  // The number may belong to another process.
    const base::TimePoint now = base::Clock::now();
    const std::uint64_t beats = links_.beats ? links_.beats->load(std::memory_order_relaxed) : 0;
    if (beats != beats_ || silence_end_ == base::TimePoint{}) silence_end_ = now + kMostSilence;
    beats_ = beats;
    (void)signal_held(parent, now < silence_end_ ? SIGCONT : SIGKILL);
  }

  // Reaps children that have ended. Returns false when no child is left.
  bool reap() noexcept {
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED);
      if (pid < 0 && errno == EINTR) continue;
      if (pid <= 0) return pid == 0;
      if (pid != first_) continue;
      tell(links_.pipe, KeeperRecord::Kind::kChanged, status);
      if (WIFEXITED(status) || WIFSIGNALED(status)) first_ = -1;
    }
  }

  pid_t first_;  // -1: the process has ended.
  KeeperLinks links_;
  sigset_t heard_;
  int signals_ = -1;  // Readable while a signal waits; -1: the guard is not watched.
  bool is_ending_ = false;
  bool has_lost_guard_ = false;
  std::uint64_t beats_ = 0;
  base::TimePoint silence_end_;  // The parent's deadline for its next heartbeat.
};

}  // namespace

void keep(const ProcessPlan& plan, const ExecPlan& prepared, const KeeperLinks& links) noexcept {
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::signal(SIGCHLD, SIG_DFL);  // If SIGCHLD is ignored, children leave no status.
  // On a system that refuses this, the keeper keeps the first process alone.
  adopt_orphans();
  if (::prctl(PR_SET_PDEATHSIG, end_all_signal()) != 0) {
    tell(links.pipe, KeeperRecord::Kind::kNoProcess, errno);
    ::_exit(kCannotStart);
  }
  const pid_t keeper = ::getpid();
  const pid_t first = ::fork();
  if (first == 0) {
    // The child reports itself, so that this record comes before anything that the program does.
    tell(links.pipe, KeeperRecord::Kind::kStarted, ::getpid());
    become(plan, prepared, keeper);
    tell(links.pipe, KeeperRecord::Kind::kNoProgram, errno);
    ::_exit(kCannotStart);
  }
  if (first < 0) {
    tell(links.pipe, KeeperRecord::Kind::kNoProcess, errno);
    ::_exit(kCannotStart);
  }
  withdraw(links);
  Keeper(first, links).run();
  ::_exit(0);
}

}  // namespace rota::os
