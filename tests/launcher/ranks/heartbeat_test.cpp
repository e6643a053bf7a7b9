// Tests how the outer process of rotarun decides that the inner process hangs.
#include "launcher/ranks/heartbeat.h"

#include <gtest/gtest.h>

namespace rota::launcher {
namespace {

using std::chrono::seconds;

class HangWatchTest : public ::testing::Test {
 protected:
  bool look(int second, std::uint64_t beats, bool is_excused = false) {
    return watch_.is_hung(base::TimePoint{} + seconds(second), beats, is_excused);
  }

  HangWatch watch_;
};

TEST_F(HangWatchTest, TakesSilenceForAHangAfterFourLooks) {
  EXPECT_FALSE(look(0, 7));
  for (int second = 1; second < 4; ++second) EXPECT_FALSE(look(second, 7)) << second;
  EXPECT_TRUE(look(4, 7));
}

TEST_F(HangWatchTest, BeginsAnewWithEachBeat) {
  for (int second = 0; second < 100; ++second) {
    EXPECT_FALSE(look(second, 7 + static_cast<std::uint64_t>(second / 4))) << second;
  }
}

TEST_F(HangWatchTest, TakesOneThatWasNeverHeardForAHangAfterThirtyLooks) {
  for (int second = 1; second < 30; ++second) EXPECT_FALSE(look(second, 0)) << second;
  EXPECT_TRUE(look(30, 0));
}

TEST_F(HangWatchTest, GivesFourLooksAfterTheFirstBeat) {
  for (int second = 1; second < 29; ++second) EXPECT_FALSE(look(second, 0)) << second;
  for (int second = 29; second < 33; ++second) EXPECT_FALSE(look(second, 1)) << second;
  EXPECT_TRUE(look(33, 1));
}

TEST_F(HangWatchTest, ExcusesWhoWaitsForADiskOrIsTraced) {
  for (const std::uint64_t beats : {0, 7}) {
    for (int second = 0; second < 100; ++second) EXPECT_FALSE(look(second, beats, true)) << second;
  }
}

// If the watcher looks later than it should, it was suspended together with the inner process.
TEST_F(HangWatchTest, TellsNothingAfterASuspensionOfBoth) {
  for (int second = 0; second < 4; ++second) EXPECT_FALSE(look(second, 7)) << second;
  EXPECT_FALSE(look(60, 7));
  for (int second = 61; second < 64; ++second) EXPECT_FALSE(look(second, 7)) << second;
  EXPECT_TRUE(look(64, 7));
}

}  // namespace
}  // namespace rota::launcher
