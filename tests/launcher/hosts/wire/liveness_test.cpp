// The watch distinguishes a vanished host from a slow one, and both from a pause of its own
// process. Method: the test calls the watch as an event loop does, with a clock that the test sets.
#include "launcher/hosts/wire/liveness.h"

#include <gtest/gtest.h>

#include <functional>

namespace rota::launcher {
namespace {

using std::chrono::milliseconds;
using Verdict = LivenessWatch::Verdict;

// A function that returns, for each time, how many milliseconds the peer's kernel has owed an
// acknowledgement; empty if it owes none.
using Owed = std::function<std::optional<int>(int ms)>;

std::optional<int> nothing(int /*ms*/) { return std::nullopt; }

Owed since(int begin) {
  return [begin](int ms) { return ms < begin ? std::nullopt : std::optional(ms - begin); };
}

class SilenceWatchTest : public ::testing::Test {
 protected:
  static base::TimePoint time(int ms) { return base::TimePoint{} + milliseconds(ms); }

  Verdict judge(int ms, std::optional<int> owed = std::nullopt) {
    judged_ms_ = ms;
    std::optional<base::Duration> unacknowledged;
    if (owed) unacknowledged = milliseconds(*owed);
    return watch_.judge(time(ms), unacknowledged);
  }

  // Judges ten times a second up to `end_ms`, and returns the last verdict.
  Verdict judge_until(int end_ms, const Owed& owed = nothing) {
    for (int ms = judged_ms_ + 100; ms < end_ms; ms += 100) judge(ms, owed(ms));
    return judge(end_ms, owed(end_ms));
  }

  void hear(int ms) { watch_.on_heard(time(ms)); }

  LivenessWatch watch_{time(0)};
  int judged_ms_ = 0;
};

TEST_F(SilenceWatchTest, IsFineAsLongAsThePeerIsHeard) {
  for (int ms = 100; ms <= 20'000; ms += 100) {
    hear(ms);
    ASSERT_EQ(judge(ms), Verdict::kFine) << ms;
  }
}

TEST_F(SilenceWatchTest, CallsAHostSlowAfterASecondAndSilentAfterFive) {
  EXPECT_EQ(judge_until(999), Verdict::kFine);
  EXPECT_EQ(judge_until(1000), Verdict::kSlow);
  EXPECT_EQ(judge_until(4999), Verdict::kSlow);
  EXPECT_EQ(judge_until(5000), Verdict::kSilent);
  EXPECT_EQ(watch_.silent_for(time(5000)), milliseconds(5000));
}

TEST_F(SilenceWatchTest, IsFineAgainWhenASlowHostIsHeard) {
  EXPECT_EQ(judge_until(4900), Verdict::kSlow);
  hear(4950);
  EXPECT_EQ(judge_until(5000), Verdict::kFine);
  EXPECT_EQ(judge_until(5949), Verdict::kFine);
  EXPECT_EQ(judge_until(5950), Verdict::kSlow);
}

// The limit is 750 ms after the last time when the kernel owed no acknowledgement, or owed one only
// briefly.
TEST_F(SilenceWatchTest, CallsAHostVanishedWhoseKernelAcknowledgesNothing) {
  EXPECT_EQ(judge_until(1849, since(1000)), Verdict::kSlow);
  EXPECT_EQ(judge_until(1850, since(1000)), Verdict::kVanished);
}

TEST_F(SilenceWatchTest, CallsAHostVanishedRatherThanSilent) {
  EXPECT_EQ(judge_until(6000, since(100)), Verdict::kVanished);
}

// Every acknowledgement is late, but every one comes.
TEST_F(SilenceWatchTest, TakesLateAcknowledgementsForNoAlarm) {
  for (const int period : {300, 500, 700}) {
    LivenessWatch watch(time(0));
    for (int ms = 100; ms <= 20'000; ms += 100) {
      watch.on_heard(time(ms));
      ASSERT_EQ(watch.judge(time(ms), milliseconds(ms % period)), Verdict::kFine)
          << "at " << ms << " of " << period;
    }
  }
}

TEST_F(SilenceWatchTest, SaysThatAnAnswerHasComeAfterAll) {
  EXPECT_EQ(judge_until(900, since(0)), Verdict::kVanished);
  EXPECT_EQ(judge_until(1000), Verdict::kSlow);
}

TEST_F(SilenceWatchTest, ForgivesOurOwnPause) {
  hear(100);
  EXPECT_EQ(judge(100), Verdict::kFine);
  EXPECT_EQ(judge(60'000, 59'900), Verdict::kFine);
  EXPECT_EQ(watch_.silent_for(time(60'000)), milliseconds(0));
  EXPECT_EQ(judge_until(60'749, since(100)), Verdict::kFine);
  EXPECT_EQ(judge_until(60'750, since(100)), Verdict::kVanished);
}

TEST_F(SilenceWatchTest, ForgivesThePauseAndNoMore) {
  EXPECT_EQ(judge_until(4900), Verdict::kSlow);
  EXPECT_EQ(judge(8000), Verdict::kSlow);
  EXPECT_EQ(watch_.silent_for(time(8000)), milliseconds(4900));
  EXPECT_EQ(judge(8099), Verdict::kSlow);
  EXPECT_EQ(judge(8100), Verdict::kSilent);
}

TEST_F(SilenceWatchTest, HearsNothingInTheFutureAfterAPause) {
  hear(9999);
  EXPECT_EQ(judge(10'000), Verdict::kFine);
  EXPECT_EQ(watch_.silent_for(time(10'000)), milliseconds(0));
  EXPECT_EQ(judge_until(11'000), Verdict::kSlow);
}

TEST_F(SilenceWatchTest, TakesFiveBeatsBetweenQuestionsForNoPause) {
  for (int ms = 500; ms < 5000; ms += 500) EXPECT_NE(judge(ms), Verdict::kSilent);
  EXPECT_EQ(judge(5000), Verdict::kSilent);
}

}  // namespace
}  // namespace rota::launcher
