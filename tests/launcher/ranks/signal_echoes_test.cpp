// A signal that has come by several ways is one signal, and a signal that comes again by one way is
// a second signal.
#include "launcher/ranks/signal_echoes.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace rota::launcher {
namespace {

base::TimePoint time(int ms) { return base::TimePoint{} + std::chrono::milliseconds(ms); }

TEST(SignalEchoes, AreTheSameSignalByOtherWays) {
  SignalEchoes echoes;
  EXPECT_FALSE(echoes.is_echo(SIGUSR1, "host 1", time(0)));
  EXPECT_TRUE(echoes.is_echo(SIGUSR1, "guard", time(1)));
  EXPECT_TRUE(echoes.is_echo(SIGUSR1, "direct", time(999)));
}

TEST(SignalEchoes, AreNotSignalsThatComeAgainByOneWay) {
  SignalEchoes echoes;
  EXPECT_FALSE(echoes.is_echo(SIGUSR1, "guard", time(0)));
  EXPECT_FALSE(echoes.is_echo(SIGUSR1, "guard", time(1)));
  EXPECT_TRUE(echoes.is_echo(SIGUSR1, "host 1", time(2)));
  EXPECT_FALSE(echoes.is_echo(SIGUSR1, "host 1", time(3)));
}

TEST(SignalEchoes, KnowWhichSignalsHaveCome) {
  SignalEchoes echoes;
  EXPECT_FALSE(echoes.has_come(SIGUSR1));
  echoes.is_echo(SIGUSR1, "direct", time(0));
  EXPECT_TRUE(echoes.has_come(SIGUSR1));
  EXPECT_FALSE(echoes.has_come(SIGUSR2));
}

TEST(SignalEchoes, AreNotOtherSignals) {
  SignalEchoes echoes;
  EXPECT_FALSE(echoes.is_echo(SIGUSR1, "guard", time(0)));
  EXPECT_FALSE(echoes.is_echo(SIGUSR2, "host 1", time(1)));
}

TEST(SignalEchoes, ComeWithinASecond) {
  SignalEchoes echoes;
  EXPECT_FALSE(echoes.is_echo(SIGUSR1, "guard", time(0)));
  EXPECT_FALSE(echoes.is_echo(SIGUSR1, "host 1", time(1000)));
  EXPECT_TRUE(echoes.is_echo(SIGUSR1, "guard", time(1999)));
}

}  // namespace
}  // namespace rota::launcher
