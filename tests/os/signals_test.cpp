// Signals as values.
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
  // It was only looked at.
  int sum = 0;
  while (const auto signal = signals.next()) sum += signal->number;
  EXPECT_EQ(sum, SIGCHLD + SIGTERM);
  EXPECT_FALSE(signals.has_other_than(SIGCHLD));
}

// As whoever started us may have blocked it.
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
