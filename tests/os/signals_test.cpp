// Tests signals that a program reads from a descriptor instead of handling them.
#include "os/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace rota::os {
namespace {

TEST(SignalWatch, TellsARequestFromANotice) {
  SignalWatch signals(std::array{SIGTERM}, std::array{SIGCHLD, SIGUSR2});
  EXPECT_FALSE(signals.has_request());
  ::kill(::getpid(), SIGCHLD);
  ::kill(::getpid(), SIGUSR2);
  EXPECT_FALSE(signals.has_request());
  ::kill(::getpid(), SIGTERM);
  EXPECT_TRUE(signals.has_request());
  // The checks took no signal away.
  int sum = 0;
  while (const auto signal = signals.next()) sum += signal->number;
  EXPECT_EQ(sum, SIGCHLD + SIGUSR2 + SIGTERM);
  EXPECT_FALSE(signals.has_request());
  EXPECT_TRUE(signals.is_notice(SIGUSR2));
  EXPECT_FALSE(signals.is_notice(SIGTERM));
  EXPECT_FALSE(signals.is_notice(0));
}

TEST(SignalWatch, SaysWhichProcessHasSentASignal) {
  SignalWatch signals({}, std::array{SIGUSR1});
  ::kill(::getpid(), SIGUSR1);
  const auto signal = signals.next();
  ASSERT_TRUE(signal);
  EXPECT_EQ(signal->number, SIGUSR1);
  EXPECT_EQ(signal->sender, ::getpid());
  EXPECT_FALSE(signal->from_terminal);
}

// A signal that is ignored here may come to another host, and be passed on from there.
TEST(SignalWatch, KnowsANoticeThatIsIgnored) {
  const auto before = ::signal(SIGUSR1, SIG_IGN);
  SignalWatch signals({}, std::array{SIGUSR1});
  ::kill(::getpid(), SIGUSR1);
  EXPECT_FALSE(signals.next());
  EXPECT_TRUE(signals.is_notice(SIGUSR1));
  ::signal(SIGUSR1, SIG_IGN);  // Drops the signal, which waits if an earlier test has blocked it.
  ::signal(SIGUSR1, before);
}

// The process that started this one may have blocked the signal.
TEST(SignalWatch, LooksAtNoneThatItDoesNotWatch) {
  sigset_t of_others;
  sigemptyset(&of_others);
  sigaddset(&of_others, SIGHUP);
  ASSERT_EQ(::sigprocmask(SIG_BLOCK, &of_others, nullptr), 0);
  const SignalWatch signals(std::array{SIGTERM}, std::array{SIGCHLD});
  ::kill(::getpid(), SIGHUP);
  EXPECT_FALSE(signals.has_request());
}

}  // namespace
}  // namespace rota::os
