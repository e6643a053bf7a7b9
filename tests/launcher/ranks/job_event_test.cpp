// Tests which events belong to the world that receives them.
#include "launcher/ranks/job_event.h"

#include <gtest/gtest.h>

namespace rota::launcher {
namespace {

using Kind = JobEvent::Kind;

TEST(JobEvent, OfTheRanksOfAnotherWorldIsLate) {
  for (const Kind kind :
       {Kind::kRankStarted, Kind::kRankStopped, Kind::kRankExited, Kind::kRankKilled,
        Kind::kRankConnected, Kind::kRankFinalized, Kind::kRankAborted, Kind::kRankFenced,
        Kind::kEvaluatorExited, Kind::kNotStarted}) {
    EXPECT_TRUE(is_late({.kind = kind, .world = 1, .rank = 7}, 2));
    EXPECT_FALSE(is_late({.kind = kind, .world = 2, .rank = 7}, 2));
  }
}

// An event of the job has no world number, or is output, which is shown whatever world wrote it.
TEST(JobEvent, OfTheJobIsNeverLate) {
  for (const Kind kind : {Kind::kSignal, Kind::kHostEnded, Kind::kHostLost, Kind::kRankWrote,
                          Kind::kEvaluatorWrote}) {
    EXPECT_FALSE(is_late({.kind = kind, .world = 0}, 2));
    EXPECT_FALSE(is_late({.kind = kind, .world = 1}, 2));
  }
}

}  // namespace
}  // namespace rota::launcher
