// A signal to a process reaches the program's own threads, not a thread of rota. A fault of a
// thread, such as SIGSEGV, reaches that thread. Method: a thread reads its own signal mask.
#include "os/quiet_thread.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

namespace rota::os {
namespace {

bool is_blocked_here(int signal) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 1;
}

// Returns the numbers of those `signals` that a quiet thread blocks.
std::string blocked_among(std::initializer_list<int> signals) {
  std::string blocked;
  start_quiet_thread([&] {
    for (const int signal : signals) {
      if (is_blocked_here(signal)) blocked += std::to_string(signal) + " ";
    }
  }).join();
  return blocked;
}

TEST(QuietThread, IsNotInterruptedByWhatIsSentToTheProcess) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGALRM, SIGUSR1, SIGPIPE}) {
    EXPECT_NE(blocked_among({signal}), "") << "signal " << signal;
  }
}

// If these signals were blocked, a handler that prints a stack before the process dies would not
// run.
TEST(QuietThread, HearsOfItsOwnFaults) {
  EXPECT_EQ(blocked_among({SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}), "");
}

// Another test of this process may have blocked some signals before.
TEST(QuietThread, LeavesTheSignalsOfItsStarterAlone) {
  const auto blocked_here = [] {
    std::string blocked;
    for (const int signal : {SIGTERM, SIGUSR1, SIGUSR2}) {
      if (is_blocked_here(signal)) blocked += std::to_string(signal) + " ";
    }
    return blocked;
  };
  const std::string before = blocked_here();
  blocked_among({});
  EXPECT_EQ(blocked_here(), before);
}

}  // namespace
}  // namespace rota::os
