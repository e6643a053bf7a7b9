// Tests signals that a program reads from a descriptor instead of handling them.
#include "os/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace rota::os {
namespace {

TEST(SignalWatch, TellsWhetherSomebodyAsksForMoreThanAChildsEnd) {
  SignalWatch signals(std::array{SIGCHLD, SIGTERM});
  EXPECT_FALSE(signals.has_other_than(SIGCHLD));
  ::kill(::getpid(), SIGCHLD);
  EXPECT_FALSE(signals.has_other_than(SIGCHLD));
  EXPECT_TRUE(signals.has_other_than(SIGTERM));
  ::kill(::getpid(), SIGTERM);
  EXPECT_TRUE(signals.has_other_than(SIGCHLD));
  // The checks took no signal away.
  int sum = 0;
  while (const auto signal = signals.next()) sum += signal->number;
  EXPECT_EQ(sum, SIGCHLD + SIGTERM);
  EXPECT_FALSE(signals.has_other_than(SIGCHLD));
}

// The process that started this one may have blocked the signal.
TEST(SignalWatch, LooksAtNoneThatItDoesNotWatch) {
  sigset_t of_others;
  sigemptyset(&of_others);
  sigaddset(&of_others, SIGUSR1);
  ASSERT_EQ(::sigprocmask(SIG_BLOCK, &of_others, nullptr), 0);
  const SignalWatch signals(std::array{SIGCHLD, SIGTERM});
  ::kill(::getpid(), SIGUSR1);
  EXPECT_FALSE(signals.has_other_than(SIGCHLD));
}

}  // namespace
}  // namespace rota::os
