// A process id is reused while the descendants of a process are signalled: its new owner must not
// get the signal. Method: the signalling process is stopped at each of its system calls in turn.
// At each stop one of its descendants is killed, or both are, and other processes get their ids.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "os/pidfd.h"
#include "os/poll_set.h"
#include "os/process.h"

namespace rota::os {
namespace {

constexpr auto kMostTime = std::chrono::seconds(20);  // Only a hang takes longer.

// Starts a child of the caller with the first of these process ids. The child starts a child with
// the next id, and so on. Waits until each id is free. Returns -1 if ids cannot be chosen.
pid_t start_as(std::span<const pid_t> numbers) {
  clone_args how{};
  how.exit_signal = SIGCHLD;
  how.set_tid = reinterpret_cast<std::uintptr_t>(numbers.data());
  how.set_tid_size = 1;
  long pid = 0;
  do {
    pid = ::syscall(SYS_clone3, &how, sizeof how);
  } while (pid < 0 && errno == EEXIST);
  if (pid != 0) return static_cast<pid_t>(pid);
  if (numbers.size() > 1) start_as(numbers.subspan(1));
  for (;;) ::pause();
}

bool has_ended(const HeldProcess& process) {
  PollSet polls;
  polls.add(process.handle.get(), true, false);
  polls.wait(base::Clock::now());
  return polls.readable(0);
}

// A process that signals its own child and grandchild. It can be stopped before each system call.
class Signaller {
 public:
  static constexpr std::size_t kDescendants = 2;

  Signaller() {
    int pipe[2] = {};
    EXPECT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
    const Fd read(pipe[0]);
    const Fd write(pipe[1]);
    pid_ = fork_process();
    if (pid_ == 0) live(write);
    while (descendants_.size() < kDescendants) {
      pid_t number = 0;
      EXPECT_EQ(::read(read.get(), &number, sizeof number), sizeof number);
      descendants_.push_back(hold_process(number));
    }
    ::waitpid(pid_, nullptr, 0);
    ::ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_EXITKILL);
  }
  Signaller(const Signaller&) = delete;
  Signaller& operator=(const Signaller&) = delete;
  ~Signaller() { EXPECT_TRUE(end_descendants(kMostTime)); }

  // Runs to the beginning of the `count`-th system call. Returns false if the process ended first.
  bool step(std::size_t count) {
    const std::size_t stop_count = 2 * count - 1;  // Each call also stops at its end.
    for (std::size_t stop = 0; stop < stop_count && !has_ended_; ++stop) go_on(PTRACE_SYSCALL);
    return !has_ended_;
  }
  void go_on_to_the_end() {
    while (!has_ended_) go_on(PTRACE_CONT);
  }

  const std::vector<HeldProcess>& descendants() const noexcept { return descendants_; }

  // Kills some of the descendants. Returns the strangers that then have their ids.
  std::vector<HeldProcess> replace(std::span<const std::size_t> which) const {
    std::vector<pid_t> numbers;
    for (const std::size_t index : which) numbers.push_back(descendants_[index].pid);
    for (const std::size_t index : which) (void)signal_held(descendants_[index], SIGKILL);
    for (const pid_t number : numbers) {  // This process reaps the orphans.
      while (!hold_process(number).is_gone) (void)::waitpid(number, nullptr, WNOHANG);
    }
    EXPECT_GT(start_as(numbers), 0) << std::strerror(errno);
    std::vector<HeldProcess> strangers;
    for (const pid_t number : numbers) {
      while (hold_process(number).is_gone) ::usleep(100);  // The first process starts the next.
      strangers.push_back(hold_process(number));
    }
    return strangers;
  }

 private:
  void go_on(__ptrace_request how) {
    int status = 0;
    ::ptrace(how, pid_, nullptr, nullptr);
    ::waitpid(pid_, &status, 0);
    has_ended_ = !WIFSTOPPED(status);
  }

  // The kernel reaps the children, so an id is free as soon as its process has ended. Other tests
  // of this process may have blocked signals.
  [[noreturn]] static void live(const Fd& told) {
    ::signal(SIGCHLD, SIG_IGN);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (fork_process() == 0) {
      tell_own_number(told);
      if (fork_process() == 0) tell_own_number(told);
      for (;;) ::pause();
    }
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    signal_descendants_of(::getpid(), SIGTERM);
    ::_exit(0);
  }

  static void tell_own_number(const Fd& told) {
    const pid_t self = ::getpid();
    (void)!::write(told.get(), &self, sizeof self);
  }

  pid_t pid_ = -1;
  std::vector<HeldProcess> descendants_;
  bool has_ended_ = false;
};

class ProcessNumber : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root chooses a process's number";
    adopt_orphans();
  }
};

TEST_F(ProcessNumber, IsNoReasonToSignalItsNextOwner) {
  const std::vector<std::vector<std::size_t>> choices = {{0}, {1}, {0, 1}};
  for (const auto& which : choices) {
    std::size_t call_count = 1;
    for (;; ++call_count) {
      Signaller signaller;
      if (!signaller.step(call_count)) break;
      const std::vector<HeldProcess> strangers = signaller.replace(which);
      signaller.go_on_to_the_end();
      for (const HeldProcess& stranger : strangers) {
        EXPECT_FALSE(has_ended(stranger)) << "replaced before call " << call_count;
      }
    }
    EXPECT_GT(call_count, 20U) << "the signaller made too few system calls";
  }
}

// Checks that the signals do arrive: otherwise the test above would prove nothing.
TEST_F(ProcessNumber, ReachesWhoeverHasIt) {
  Signaller signaller;
  signaller.go_on_to_the_end();
  for (const HeldProcess& descendant : signaller.descendants()) {
    const base::TimePoint end = base::Clock::now() + kMostTime;
    while (!has_ended(descendant) && base::Clock::now() < end) ::usleep(100);
    EXPECT_TRUE(has_ended(descendant));
  }
}

}  // namespace
}  // namespace rota::os
