// Tests the times at which a long wait is reported and times out. Method: the test sets the clock.
#include "communicator/watch.h"

#include <gtest/gtest.h>

#include <chrono>

namespace rota {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Verdict = Watch::Verdict;

constexpr base::Duration kDeadline = seconds(10);
constexpr base::Duration kOften = milliseconds(2);  // The poll interval of a waiting thread.

class WatchTest : public ::testing::Test {
 protected:
  // Asks the watch as often as a waiting thread does, until `time` has passed. Returns the last
  // verdict.
  Verdict look_for(base::Duration time, bool tells_why = false, bool stream_goes_on = false) {
    Verdict verdict = Verdict::kWaits;
    for (const auto end = now_ + time; now_ < end;) {
      now_ += kOften;
      verdict = look(tells_why, stream_goes_on);
      if (verdict != Verdict::kWaits) break;
    }
    return verdict;
  }
  Verdict look(bool tells_why = false, bool stream_goes_on = false) {
    watch_.look(now_);
    return watch_.judge(kPeer, tells_why, stream_goes_on);
  }

  static constexpr std::size_t kPeer = 3;
  base::TimePoint now_{seconds(1000)};
  Watch watch_{kDeadline};
};

TEST_F(WatchTest, EndsAtTheDeadlineAndNotBefore) {
  const auto begin = now_ + kOften;  // The time of the first look.
  EXPECT_EQ(look_for(kDeadline), Verdict::kWaits);
  EXPECT_EQ(look_for(seconds(1)), Verdict::kTimedOut);
  EXPECT_EQ(now_ - begin, kDeadline + kOften);
}

TEST_F(WatchTest, BeginsAnewWithEachOperation) {
  EXPECT_EQ(look_for(kDeadline), Verdict::kWaits);
  watch_.on_finished();
  EXPECT_EQ(look_for(kDeadline), Verdict::kWaits);
  EXPECT_EQ(look_for(seconds(1)), Verdict::kTimedOut);
}

TEST_F(WatchTest, HardlyCountsWhileTheProcessWasSuspended) {
  EXPECT_EQ(look_for(seconds(6)), Verdict::kWaits);
  now_ += seconds(100);
  EXPECT_EQ(look(), Verdict::kWaits);
  EXPECT_EQ(look_for(seconds(3)), Verdict::kWaits);
  EXPECT_EQ(look_for(seconds(2)), Verdict::kTimedOut);
}

TEST_F(WatchTest, CountsAGapThatIsNoSuspension) {
  EXPECT_EQ(look(), Verdict::kWaits);
  for (int i = 0; i < 20; ++i) {
    now_ += Watch::kSuspended;
    EXPECT_EQ(look(), Verdict::kWaits) << i;
  }
  now_ += Watch::kSuspended;
  EXPECT_EQ(look(), Verdict::kTimedOut);
}

// As on a host that is so slow that each look comes late.
TEST_F(WatchTest, EndsWhereEachGapIsLongerThanASuspension) {
  EXPECT_EQ(look(), Verdict::kWaits);
  for (int i = 0; i < 20; ++i) {
    now_ += seconds(1);
    EXPECT_EQ(look(), Verdict::kWaits) << i;
  }
  now_ += seconds(1);
  EXPECT_EQ(look(), Verdict::kTimedOut);
}

TEST_F(WatchTest, EndsTheWaitForAStreamWhereEachGapIsLongerThanASuspension) {
  watch_.on_departure_of(kPeer);
  EXPECT_EQ(look(false, true), Verdict::kWaits);
  for (int i = 0; i < 3; ++i) {
    now_ += seconds(1);
    EXPECT_EQ(look(false, true), Verdict::kWaits) << i;
  }
  now_ += seconds(1);
  EXPECT_EQ(look(false, true), Verdict::kEnded);
}

TEST_F(WatchTest, GivesARankThatGivesUpTimeToSayWhy) {
  const auto begin = now_ + kOften;
  EXPECT_EQ(look_for(kDeadline + seconds(1), true), Verdict::kTimedOut);
  EXPECT_EQ(now_ - begin, kDeadline + Watch::kTellsWithin + kOften);
}

TEST_F(WatchTest, EndsAtOnceWhereAPeerHasEnded) {
  EXPECT_EQ(look_for(seconds(1)), Verdict::kWaits);
  watch_.on_departure_of(kPeer);
  EXPECT_TRUE(watch_.knows_departure_of(kPeer));
  EXPECT_EQ(look(), Verdict::kEnded);
}

TEST_F(WatchTest, WaitsForTheEndOfAStreamThatMayStillBringSomething) {
  watch_.on_departure_of(kPeer);
  const auto begin = now_ + kOften;
  EXPECT_EQ(look_for(seconds(1), false, true), Verdict::kWaits);
  watch_.on_moved();  // Something arrived, so more may follow.
  const auto again = now_ + kOften;
  EXPECT_EQ(look_for(seconds(3), false, true), Verdict::kEnded);
  EXPECT_EQ(now_ - again, Watch::kStreamEnds);
  EXPECT_GT(now_ - begin, Watch::kStreamEnds);
}

TEST_F(WatchTest, HardlyCountsASuspensionAgainstAStream) {
  watch_.on_departure_of(kPeer);
  EXPECT_EQ(look_for(seconds(1), false, true), Verdict::kWaits);
  now_ += seconds(100);
  EXPECT_EQ(look(false, true), Verdict::kWaits) << "the stream had no chance to bring anything";
  EXPECT_EQ(look_for(seconds(3), false, true), Verdict::kEnded);
}

// Method: the first look after the suspension hears that the peer has ended, and so is not judged.
TEST_F(WatchTest, HardlyCountsASuspensionInWhichAPeerHasEnded) {
  EXPECT_EQ(look_for(seconds(1), false, true), Verdict::kWaits);
  now_ += seconds(100);
  watch_.look(now_);
  watch_.on_departure_of(kPeer);
  EXPECT_EQ(look_for(seconds(1), false, true), Verdict::kWaits) << "more may be on its way";
  EXPECT_EQ(look_for(seconds(3), false, true), Verdict::kEnded);
}

// Method: the stream neither moves nor ends, and the time that it may take would end later.
TEST_F(WatchTest, EndsTheWaitForAStreamAtTheDeadline) {
  const auto begin = now_ + kOften;
  EXPECT_EQ(look_for(kDeadline - seconds(1)), Verdict::kWaits);
  watch_.on_departure_of(kPeer);
  EXPECT_EQ(look_for(seconds(3), false, true), Verdict::kEnded);
  EXPECT_EQ(now_ - begin, kDeadline + kOften);
}

TEST_F(WatchTest, TellsOfALongWaitOnceAndOfItsEnd) {
  EXPECT_EQ(look(), Verdict::kWaits);
  EXPECT_FALSE(watch_.wants_report_of(kPeer));
  look_for(Watch::kReportAfter);
  EXPECT_FALSE(watch_.wants_report_of(kPeer));
  look_for(kOften);
  EXPECT_TRUE(watch_.wants_report_of(kPeer));
  watch_.on_report_of(kPeer);
  EXPECT_FALSE(watch_.wants_report_of(kPeer));
  EXPECT_TRUE(watch_.wants_report_of(kPeer + 1)) << "the rank now waits for another peer";
  EXPECT_TRUE(watch_.on_finished());
  EXPECT_FALSE(watch_.on_finished()) << "the end was already reported";
  look();
  EXPECT_FALSE(watch_.wants_report_of(kPeer)) << "the next operation has its own clock";
}

}  // namespace
}  // namespace rota
