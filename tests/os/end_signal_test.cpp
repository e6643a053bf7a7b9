// SIGTERM as a value: a process that has something to finish is not ended by it.
#include <rota/end_signal.h>

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <thread>

namespace rota {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(EndSignal, RemembersThatItHasCome) {
  EndSignal signal;
  EXPECT_FALSE(signal.has_come());
  EXPECT_FALSE(signal.wait_for(milliseconds(1)));
  ::kill(::getpid(), SIGTERM);
  EXPECT_TRUE(signal.wait_for(seconds(20)));
  EXPECT_TRUE(signal.has_come());
  EXPECT_TRUE(signal.wait_for(seconds(20))) << "and again, at once";
}

TEST(EndSignal, WakesAThreadThatWaits) {
  EndSignal signal;
  std::thread sender([] {
    std::this_thread::sleep_for(milliseconds(20));
    ::pthread_kill(::pthread_self(), SIGTERM);  // This thread, not the one that waits.
  });
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(signal.wait_for(seconds(60)));
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(30));
  sender.join();
}

// A profiler or a timer sends signals all the time.
TEST(EndSignal, WaitsOnWhenAnotherSignalComes) {
  const EndSignal signal;
  const auto before = ::signal(SIGUSR1, [](int) {});
  const pthread_t waiter = ::pthread_self();
  std::thread sender([waiter] {
    std::this_thread::sleep_for(milliseconds(20));
    ::pthread_kill(waiter, SIGUSR1);
  });
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(signal.wait_for(milliseconds(500)));
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(500));
  sender.join();
  ::signal(SIGUSR1, before);
}

// The limit may be what is left until a time that has passed.
TEST(EndSignal, DoesNotWaitForLessThanNoTime) {
  EXPECT_FALSE(EndSignal().wait_for(milliseconds(-5)));
}

TEST(EndSignal, IsSharedByAllAndForgottenWithTheLast) {
  std::optional<EndSignal> first(std::in_place);
  std::optional<EndSignal> second(std::in_place);
  ::kill(::getpid(), SIGTERM);
  EXPECT_TRUE(first->wait_for(seconds(20)));
  EXPECT_TRUE(second->has_come());
  first.reset();
  EXPECT_TRUE(second->has_come());
  second.reset();
  EXPECT_FALSE(EndSignal().wait_for(milliseconds(1)));
}

// The handler of the test would otherwise end the test.
TEST(EndSignal, GivesTheSignalItsEffectBack) {
  const pid_t child = ::fork();
  if (child == 0) {
    { const EndSignal signal; }
    ::kill(::getpid(), SIGTERM);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

}  // namespace
}  // namespace rota
