// A lost host ends the job, and is reported as the cause unless another cause is known.
#include <gtest/gtest.h>
#include <signal.h>

#include "launcher/command/exit_codes.h"
#include "launcher/job/exit_policy.h"

namespace rota::launcher {
namespace {

using Action = ExitPolicy::Action;
using Reason = Outcome::Reason;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A policy for three ranks. Ranks 1 and 2 are on the lost host.
class LostHost : public ::testing::Test {
 protected:
  static base::TimePoint time(int ms) { return base::TimePoint{} + milliseconds(ms); }

  void lose(int ms) {
    policy_.on_host_lost(std::vector<std::size_t>{1, 2}, "lost host 1", kExitSilent, time(ms));
  }
  void exits(std::size_t rank, int code, int ms) { policy_.on_exit(rank, {false, code, time(ms)}); }
  void dies(std::size_t rank, int signal, int ms) {
    policy_.on_exit(rank, {true, signal, time(ms)});
  }
  Action decide(int ms, bool has_children = true) { return policy_.decide(time(ms), has_children); }

  void expect_lost() const {
    EXPECT_EQ(policy_.outcome().reason, Reason::kHostLost);
    EXPECT_EQ(policy_.outcome().code, kExitSilent);
    EXPECT_EQ(policy_.outcome().text, "lost host 1");
  }
  void expect_died(std::size_t rank, int code) const {
    EXPECT_EQ(policy_.outcome().reason, Reason::kFault);
    EXPECT_EQ(policy_.outcome().fault.kind, Fault::Kind::kDied);
    EXPECT_EQ(policy_.outcome().fault.rank, rank);
    EXPECT_EQ(policy_.outcome().code, code);
  }

  ExitPolicy policy_{3,
                     {.deadline = seconds(2),
                      .fault_grace = milliseconds(500),
                      .request_grace = milliseconds(500),
                      .timeout = std::nullopt}};
};

TEST_F(LostHost, EndsTheJobWithItsRanks) {
  lose(5);
  EXPECT_EQ(decide(5), Action::kTerminate);
  expect_lost();
  EXPECT_EQ(policy_.next_deadline(), time(505));
  dies(0, SIGTERM, 6);
  EXPECT_EQ(decide(6, false), Action::kFinish);
  expect_lost();
}

TEST_F(LostHost, KillsWhatIsLeftElsewhereAfterTheGrace) {
  lose(5);
  EXPECT_EQ(decide(5), Action::kTerminate);
  EXPECT_EQ(decide(504), Action::kNone);
  EXPECT_EQ(decide(505), Action::kKill);
  dies(0, SIGKILL, 506);
  EXPECT_EQ(decide(506, false), Action::kFinish);
  expect_lost();
}

// Survivors notice that their peers are gone before the host counts as lost.
TEST_F(LostHost, IsTheCauseOfWhatSurvivorsSaid) {
  policy_.on_message(0,
                     {.type = rendezvous::MessageType::kAbort,
                      .error = ErrorCode::kPeerLost,
                      .blamed = 2,
                      .text = "why"},
                     time(5));
  EXPECT_EQ(decide(5), Action::kNone);
  lose(100);
  EXPECT_EQ(decide(100), Action::kTerminate);
  expect_lost();
}

TEST_F(LostHost, IsNotTheCauseOfARanksDeathBefore) {
  dies(0, SIGSEGV, 5);
  lose(6);
  EXPECT_EQ(decide(6), Action::kTerminate);
  expect_died(0, 139);
}

TEST_F(LostHost, IsNotTheCauseOfWhatIsEndingAlready) {
  exits(0, 3, 5);
  EXPECT_EQ(decide(5), Action::kTerminate);
  lose(6);
  EXPECT_EQ(decide(6, false), Action::kFinish);
  expect_died(0, 3);
}

TEST_F(LostHost, IsNotTheCauseWhereASignalCameBefore) {
  policy_.on_signal(SIGTERM, time(5));
  lose(6);
  EXPECT_EQ(decide(6), Action::kTerminate);
  EXPECT_EQ(policy_.outcome().reason, Reason::kSignal);
  EXPECT_EQ(policy_.outcome().code, 143);
}

TEST_F(LostHost, LeavesAloneHowItsRanksHaveEnded) {
  exits(1, 0, 5);
  policy_.on_stopped(2, time(5));
  lose(6);
  EXPECT_EQ(decide(6), Action::kTerminate);
  EXPECT_TRUE(policy_.records()[1].ending->is_success());
  EXPECT_TRUE(policy_.records()[2].ending->was_killed);
  EXPECT_FALSE(policy_.records()[2].stopped_since);
  EXPECT_FALSE(policy_.records()[0].ending);
}

TEST_F(LostHost, FailsTheJobEvenWhereAllOfItsRanksHadEndedWell) {
  exits(1, 0, 5);
  exits(2, 0, 5);
  lose(6);
  EXPECT_EQ(decide(6), Action::kTerminate);
  expect_lost();
}

}  // namespace
}  // namespace rota::launcher
