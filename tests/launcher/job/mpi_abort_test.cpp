// Tests what an abort by MPI, and a fault that MPI's world shows, mean for the end of a job.
#include "launcher/command/exit_codes.h"
#include "launcher/job/end_report.h"
#include "launcher/job/exit_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace rota::launcher {
namespace {

using Action = ExitPolicy::Action;
using std::chrono::milliseconds;
using std::chrono::seconds;

class MpiAbort : public ::testing::Test {
 protected:
  static base::TimePoint time(int ms) { return base::TimePoint{} + milliseconds(ms); }

  void aborts(std::size_t rank, int ms, int code) {
    policy_.on_mpi_abort(rank, code, "MPI_Abort", time(ms));
  }
  void exits(std::size_t rank, int ms, int code) { policy_.on_exit(rank, {false, code, time(ms)}); }
  void dies(std::size_t rank, int ms) { policy_.on_exit(rank, {true, SIGKILL, time(ms)}); }
  void expect_end(int ms, std::size_t rank, int code) {
    EXPECT_EQ(policy_.decide(time(ms), true), Action::kTerminate);
    EXPECT_EQ(policy_.outcome().reason, Outcome::Reason::kFault);
    EXPECT_EQ(policy_.outcome().fault.rank, rank);
    EXPECT_EQ(policy_.outcome().code, code);
  }

  ExitPolicy policy_{3, {seconds(2), milliseconds(500), seconds(5), std::nullopt}};
};

TEST_F(MpiAbort, EndsTheJobWithItsCode) {
  aborts(1, 0, 42);
  EXPECT_EQ(policy_.decide(time(0), true), Action::kNone) << "a death may be the cause";
  EXPECT_EQ(policy_.next_deadline(), time(100));
  expect_end(100, 1, 42);
}

TEST_F(MpiAbort, IsNoSuccess) {
  aborts(1, 0, 0);
  policy_.decide(time(0), true);
  expect_end(100, 1, kExitFailed);
}

TEST_F(MpiAbort, IsTheCauseOfTheExitsThatFollow) {
  aborts(1, 0, 42);
  policy_.decide(time(0), true);
  aborts(2, 1, 15);
  exits(2, 2, 15);
  policy_.decide(time(2), true);
  exits(1, 3, 42);
  policy_.decide(time(3), true);
  expect_end(100, 1, 42);
}

// MPI also aborts a rank whose peer has died. The news of the death may take longer.
TEST_F(MpiAbort, IsNotTheCauseAfterADeath) {
  aborts(1, 0, 15);
  exits(1, 1, 15);
  EXPECT_EQ(policy_.decide(time(1), true), Action::kNone);
  dies(2, 50);
  expect_end(50, 2, kExitSignalBase + SIGKILL);
}

TEST_F(MpiAbort, IsNotTheCauseAfterAFailureWithoutOne) {
  aborts(1, 0, 15);
  policy_.decide(time(0), true);
  exits(2, 50, 3);
  expect_end(50, 2, 3);
}

TEST_F(MpiAbort, FaultEndsTheJobUnlessARankHasFailed) {
  exits(0, 0, 0);
  policy_.on_fault({.kind = Fault::Kind::kLeft, .rank = 0, .testimony = "no MPI_Init"}, time(0));
  policy_.on_fault({.kind = Fault::Kind::kLeft, .rank = 1}, time(0));
  expect_end(0, 0, kExitLeftEarly);
  const std::vector<RankName> names(3, RankName{.pid = 7, .host = "a"});
  EXPECT_EQ(describe(policy_.outcome(), policy_.records(), names),
            "rank 0 (pid 7, a) exited with code 0 while it was needed: no MPI_Init");
}

TEST_F(MpiAbort, FaultDoesNotHideAFailure) {
  exits(1, 0, 3);
  policy_.on_fault({.kind = Fault::Kind::kSilent, .rank = 0}, time(0));
  expect_end(0, 1, 3);
}

TEST_F(MpiAbort, FaultOfTheLastRankEndsTheJob) {
  for (const std::size_t rank : {0U, 1U, 2U}) exits(rank, 0, 0);
  policy_.on_fault({.kind = Fault::Kind::kLeft, .rank = 2}, time(0));
  expect_end(0, 2, kExitLeftEarly);
}

}  // namespace
}  // namespace rota::launcher
