// Tests which rank is blamed for a failure, given what is known at that time.
#include "launcher/job/root_cause.h"

#include <gtest/gtest.h>

namespace rota::launcher {
namespace {

using std::chrono::milliseconds;
using Kind = Fault::Kind;

constexpr base::TimePoint kStart{};

base::TimePoint at(int ms) { return kStart + milliseconds(ms); }

// The records of a world of four ranks. Times are in milliseconds.
class Records {
 public:
  Records& killed(std::size_t rank, int ms, int signal = 9) {
    records[rank].ending = Ending{true, signal, at(ms)};
    return *this;
  }
  Records& exited(std::size_t rank, int ms, int code) {
    records[rank].ending = Ending{false, code, at(ms)};
    return *this;
  }
  Records& reported(std::size_t rank, int ms, ErrorCode error,
                    std::optional<std::size_t> blamed = std::nullopt) {
    const std::string text = "rank " + std::to_string(rank) + " says why";
    records[rank].report = Report{error, blamed, text, false, at(ms)};
    return *this;
  }
  Records& echoed(std::size_t rank, int ms, std::size_t blamed) {
    records[rank].report = Report{ErrorCode::kAborted, blamed, "echo", true, at(ms)};
    return *this;
  }
  Records& waits(std::size_t rank, std::size_t peer) {
    records[rank].waiting_for = peer;
    return *this;
  }
  Records& stopped(std::size_t rank, int ms) {
    records[rank].stopped_since = at(ms);
    return *this;
  }
  Records& left(std::size_t rank) {
    records[rank].has_left = true;
    return *this;
  }
  Fault fault(std::size_t first) const { return find_fault(records, first); }

  std::vector<RankRecord> records = std::vector<RankRecord>(4);
};

void expect(const Fault& fault, Kind kind, std::size_t rank) {
  EXPECT_EQ(fault.kind, kind);
  EXPECT_EQ(fault.rank, rank);
  EXPECT_FALSE(fault.uncertain_until);
}

TEST(Blame, StaysWithARankThatDiedOfItself) {
  expect(Records().killed(2, 5).fault(2), Kind::kDied, 2);
  expect(Records().exited(1, 5, 3).fault(1), Kind::kDied, 1);
}

TEST(Blame, StaysWithARankThatReportedItsOwnFailure) {
  const Records world = Records().reported(1, 5, ErrorCode::kNotFinite).exited(1, 6, 3);
  expect(world.fault(1), Kind::kReported, 1);
}

TEST(Blame, GoesToTheDeadPeerThatASurvivorComplainsAbout) {
  const Records world =
      Records().reported(0, 5, ErrorCode::kPeerLost, 2).exited(0, 6, 1).killed(2, 7);
  const Fault fault = world.fault(0);
  expect(fault, Kind::kDied, 2);
  EXPECT_EQ(fault.witness, 0U);
  EXPECT_EQ(fault.testimony, "rank 0 says why");
}

TEST(Blame, WaitsForADeathThatASurvivorNoticedFirst) {
  const Fault lost = Records().reported(0, 5, ErrorCode::kPeerLost, 2).fault(0);
  EXPECT_EQ(lost.kind, Kind::kSilent);
  EXPECT_EQ(lost.rank, 2U);
  EXPECT_EQ(lost.uncertain_until, at(1005));
  const Fault late = Records().reported(0, 5, ErrorCode::kTimeout, 2).fault(0);
  EXPECT_EQ(late.uncertain_until, at(105));
}

TEST(Blame, FollowsAChainOfComplaints) {
  Records world;
  world.reported(0, 5, ErrorCode::kPeerLost, 3)
      .reported(3, 6, ErrorCode::kPeerLost, 2)
      .killed(2, 8);
  const Fault fault = world.fault(0);
  expect(fault, Kind::kDied, 2);
  EXPECT_EQ(fault.witness, 3U);
}

TEST(Blame, FollowsARankThatIsStillWaiting) {
  Records world;
  world.reported(0, 5, ErrorCode::kTimeout, 3).waits(3, 2).killed(2, 8);
  expect(world.fault(0), Kind::kDied, 2);
}

TEST(Blame, FollowsTheWaitOfARankThatExitedOnlyBecauseTheJobBroke) {
  Records world;
  world.reported(0, 5, ErrorCode::kTimeout, 3).waits(3, 2).echoed(3, 7, 0).exited(3, 8, 1);
  world.echoed(2, 7, 0).exited(2, 9, 1);
  expect(world.fault(0), Kind::kSilent, 2);
}

TEST(Blame, EndsAtASilentRank) {
  Records world;
  world.reported(3, 2000, ErrorCode::kTimeout, 0);
  const Fault fault = world.fault(3);
  EXPECT_EQ(fault.kind, Kind::kSilent);
  EXPECT_EQ(fault.rank, 0U);
  EXPECT_EQ(fault.witness, 3U);
}

TEST(Blame, DoesNotTakeTheExitAfterAnAbortForItsCause) {
  Records world;  // Rank 0 was late, was told about the abort, and exited.
  world.reported(3, 2000, ErrorCode::kTimeout, 0).exited(0, 2010, 1);
  expect(world.fault(3), Kind::kSilent, 0);
  world.killed(0, 2010);  // A kill is not a reaction to an abort.
  expect(world.fault(3), Kind::kDied, 0);
}

TEST(Blame, TakesAnExitThatBecomesKnownAfterItsLossForTheCause) {
  Records world;
  world.reported(3, 20, ErrorCode::kPeerLost, 0).exited(0, 22, 5);
  expect(world.fault(3), Kind::kDied, 0);
}

TEST(Blame, EndsAtAStoppedRank) {
  Records world;
  world.reported(3, 2000, ErrorCode::kTimeout, 1).stopped(1, 10);
  expect(world.fault(3), Kind::kStopped, 1);
}

TEST(Blame, DoesNotFollowWhatAStoppedRankWaitedFor) {
  Records world;
  world.reported(3, 2000, ErrorCode::kTimeout, 1).waits(1, 2).stopped(1, 10);
  expect(world.fault(3), Kind::kStopped, 1);
}

TEST(Blame, EndsAtARankThatEndedWellTooEarly) {
  expect(Records().reported(3, 20, ErrorCode::kPeerLost, 1).exited(1, 10, 0).fault(3), Kind::kLeft,
         1);
}

TEST(Blame, WaitsForTheExitOfARankThatLeft) {
  Records world;
  world.reported(3, 20, ErrorCode::kPeerLost, 1).left(1);
  EXPECT_EQ(world.fault(3).kind, Kind::kLeft);
  EXPECT_EQ(world.fault(3).uncertain_until, at(1020));
  world.exited(1, 25, 4);  // Rank 1 left because it had failed.
  expect(world.fault(3), Kind::kDied, 1);
}

TEST(Blame, BelievesTheFirstReporterWhenTheyBlameEachOther) {
  Records world;
  world.reported(1, 20, ErrorCode::kTimeout, 2).reported(2, 21, ErrorCode::kTimeout, 1);
  const Fault fault = world.fault(1);
  expect(fault, Kind::kReported, 1);
  EXPECT_FALSE(fault.witness);
  Records waiting;
  waiting.reported(1, 20, ErrorCode::kTimeout, 2).waits(2, 3).waits(3, 1);
  expect(waiting.fault(1), Kind::kReported, 1);
}

TEST(Blame, LaysAMismatchAtNobodyElse) {
  Records world;
  world.reported(1, 20, ErrorCode::kMismatch, 0);
  expect(world.fault(1), Kind::kReported, 1);
}

TEST(Blame, FollowsATimeoutToARankThatReportedItsOwnFailure) {
  Records world;
  world.reported(1, 20, ErrorCode::kTimeout, 0).reported(0, 21, ErrorCode::kNoMemory);
  expect(world.fault(1), Kind::kReported, 0);
}

TEST(Blame, FollowsAnEchoThatOvertookItsCause) {
  Records world;
  world.reported(1, 20, ErrorCode::kAborted, 0);
  EXPECT_EQ(world.fault(1).uncertain_until, at(120));
  world.reported(0, 21, ErrorCode::kNotFinite);
  expect(world.fault(1), Kind::kReported, 0);
}

// Until a rank has ended, its fault is kReported, even if its report is only an echo.
TEST(Blame, TakesAReportForAReportUntilTheRankEnds) {
  expect(Records().echoed(1, 20, 1).fault(1), Kind::kReported, 1);
}

TEST(Blame, IgnoresARankThatBlamesItself) {
  expect(Records().reported(1, 20, ErrorCode::kTimeout, 1).fault(1), Kind::kReported, 1);
}

}  // namespace
}  // namespace rota::launcher
