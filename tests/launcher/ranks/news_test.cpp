// Which news is of the world that hears it.
#include "launcher/ranks/news.h"

#include <gtest/gtest.h>

namespace rota::launcher {
namespace {

using Kind = News::Kind;

TEST(News, OfTheRanksOfAnotherWorldIsLate) {
  for (const Kind kind : {Kind::kRankStarted, Kind::kRankStopped, Kind::kRankExited,
                          Kind::kRankKilled, Kind::kEvaluatorExited, Kind::kNotStarted}) {
    EXPECT_TRUE(is_late({.kind = kind, .world = 1, .rank = 7}, 2));
    EXPECT_FALSE(is_late({.kind = kind, .world = 2, .rank = 7}, 2));
  }
}

// It has no number, or is shown whoever wrote it.
TEST(News, OfTheJobIsNeverLate) {
  for (const Kind kind : {Kind::kSignal, Kind::kHostEnded, Kind::kHostLost, Kind::kRankWrote,
                          Kind::kEvaluatorWrote}) {
    EXPECT_FALSE(is_late({.kind = kind, .world = 0}, 2));
    EXPECT_FALSE(is_late({.kind = kind, .world = 1}, 2));
  }
}

}  // namespace
}  // namespace rota::launcher
