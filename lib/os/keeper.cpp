// The life of a keeper: system calls only, as it is a split of a process that may have threads.
#include "os/keeper.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "os/children.h"

#if !defined(SYS_close_range)
#define SYS_close_range 436  // As on every architecture.
#endif

namespace rota::os {
namespace {

constexpr timespec kPauseBetweenKills{0, 1'000'000};

// Nobody may be there to read it any more.
void tell(int pipe, KeeperRecord::Kind kind, int value) noexcept {
  const KeeperRecord record{kind, value};
  while (::write(pipe, &record, sizeof record) < 0 && errno == EINTR) {
  }
}

void close_between(unsigned first, unsigned last) noexcept {
  if (first > last || ::syscall(SYS_close_range, first, last, 0) == 0) return;
  // A kernel before Linux 5.9. The limit of open files may be a number that takes minutes.
  constexpr unsigned kMostOfALauncher = 1U << 16;
  for (unsigned number = first; number <= last && number < kMostOfALauncher; ++number) {
    ::close(static_cast<int>(number));
  }
}

// Whoever holds a pipe or a socket of ours would think that somebody is at its other end; what is
// meant for our group, our terminal or our name is not meant for a keeper.
void withdraw(int pipe) noexcept {
  const auto kept = static_cast<unsigned>(pipe);
  close_between(0, kept - 1);
  close_between(kept + 1, ~0U);
  ::setsid();
  ::prctl(PR_SET_NAME, "rota-keeper");
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  (void)!::chdir("/");
}

class Keeper {
 public:
  Keeper(pid_t first, pid_t parent, int pipe) noexcept
      : first_(first), parent_(parent), pipe_(pipe) {
    sigemptyset(&heard_);
    for (const int number : {SIGCHLD, pass_on_signal(), end_all_signal()}) {
      sigaddset(&heard_, number);
    }
  }

  // Until nothing is left to keep.
  void run() noexcept {
    while (reap()) {
      is_ending_ = is_ending_ || ::getppid() != parent_;
      if (is_ending_) {
        signal_children(SIGKILL);
        ::nanosleep(&kPauseBetweenKills, nullptr);
        continue;
      }
      siginfo_t info;
      const int number = ::sigwaitinfo(&heard_, &info);
      if (number == end_all_signal()) is_ending_ = true;
      if (number == pass_on_signal() && first_ > 0) ::kill(first_, info.si_value.sival_int);
    }
  }

 private:
  // False: no child is left.
  bool reap() noexcept {
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED);
      if (pid < 0 && errno == EINTR) continue;
      if (pid <= 0) return pid == 0;
      if (pid != first_) continue;
      tell(pipe_, KeeperRecord::Kind::kChanged, status);
      if (WIFEXITED(status) || WIFSIGNALED(status)) first_ = -1;
    }
  }

  pid_t first_;  // -1: it has ended.
  pid_t parent_;
  int pipe_;
  sigset_t heard_;
  bool is_ending_ = false;
};

}  // namespace

void keep(const ProcessPlan& plan, const ExecPlan& prepared, pid_t parent, int pipe) noexcept {
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::signal(SIGCHLD, SIG_DFL);  // Ignored, it would have children vanish without a status.
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || ::prctl(PR_SET_PDEATHSIG, end_all_signal()) != 0) {
    tell(pipe, KeeperRecord::Kind::kNoProcess, errno);
    ::_exit(kCannotStart);
  }
  const pid_t keeper = ::getpid();
  const pid_t first = ::fork();
  if (first == 0) {
    // By itself, so that it is heard before anything that the program does.
    tell(pipe, KeeperRecord::Kind::kStarted, ::getpid());
    become(plan, prepared, keeper);
    tell(pipe, KeeperRecord::Kind::kNoProgram, errno);
    ::_exit(kCannotStart);
  }
  if (first < 0) {
    tell(pipe, KeeperRecord::Kind::kNoProcess, errno);
    ::_exit(kCannotStart);
  }
  withdraw(pipe);
  Keeper(first, parent, pipe).run();
  ::_exit(0);
}

}  // namespace rota::os
