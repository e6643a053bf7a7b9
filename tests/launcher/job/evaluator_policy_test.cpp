// Tests how evaluators, which run beside the ranks, change the end of a job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "launcher/job/end_report.h"
#include "launcher/job/exit_policy.h"

namespace rota::launcher {
namespace {

using Action = ExitPolicy::Action;
using Reason = Outcome::Reason;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;

// Two ranks and two evaluators, with a clock in milliseconds.
class EvaluatorPolicy : public ::testing::Test {
 protected:
  EvaluatorPolicy() : policy_(2, {seconds(2), milliseconds(500), seconds(5), time(60'000)}) {
    policy_.on_evaluator_start(0);
    policy_.on_evaluator_start(1);
  }

  static base::TimePoint time(int ms) { return base::TimePoint{} + milliseconds(ms); }
  void rank_exits(std::size_t rank, int ms, int code) {
    policy_.on_exit(rank, {false, code, time(ms)});
  }
  void ends(std::size_t index, int ms, int value, bool was_killed = false) {
    policy_.on_evaluator_end(index, {was_killed, value, time(ms)}, time(ms));
  }
  void all_ranks_end_well(int ms) {
    rank_exits(0, ms, 0);
    rank_exits(1, ms, 0);
  }
  Action decide(int ms, bool can_agree = false) {
    return policy_.decide(time(ms), true, can_agree);
  }

  ExitPolicy policy_;
};

TEST_F(EvaluatorPolicy, AsksThemToEndOnceAllRanksHave) {
  rank_exits(0, 1, 0);
  EXPECT_EQ(decide(1), Action::kNone);
  rank_exits(1, 2, 0);
  EXPECT_EQ(decide(2), Action::kRelease);
  EXPECT_EQ(decide(3), Action::kNone);
  EXPECT_EQ(policy_.next_deadline(), time(5002));
  ends(0, 4, 0);
  EXPECT_EQ(decide(4), Action::kNone);
  EXPECT_THAT(policy_.evaluators(), ElementsAre(1));
  ends(1, 5, SIGTERM, true);
  EXPECT_EQ(decide(5), Action::kFinish);
  EXPECT_EQ(policy_.outcome().code, 0);
}

// The evaluator may end with any exit code after rotarun has asked it to end.
TEST_F(EvaluatorPolicy, TakesAnyEndOnThatRequestForASuccess) {
  all_ranks_end_well(1);
  EXPECT_EQ(decide(1), Action::kRelease);
  ends(0, 2, 143);
  ends(1, 2, 1);
  EXPECT_EQ(decide(2), Action::kFinish);
  EXPECT_EQ(policy_.outcome().code, 0);
}

TEST_F(EvaluatorPolicy, KillsThoseThatTakeLongerThanTheGrace) {
  all_ranks_end_well(1);
  EXPECT_EQ(decide(1), Action::kRelease);
  ends(0, 2, 0);
  EXPECT_EQ(decide(5000), Action::kNone);
  EXPECT_EQ(decide(5001), Action::kKill);
  ends(1, 5002, SIGKILL, true);
  EXPECT_EQ(decide(5002), Action::kFinish);
  EXPECT_EQ(policy_.outcome().code, 0);
}

TEST_F(EvaluatorPolicy, AsksOneThatComesLateToo) {
  all_ranks_end_well(1);
  EXPECT_EQ(decide(1), Action::kRelease);
  ends(0, 2, 0);
  ends(1, 2, 0);
  policy_.on_evaluator_start(0);
  EXPECT_EQ(decide(3), Action::kRelease);
  EXPECT_EQ(decide(4), Action::kNone);
  EXPECT_EQ(policy_.next_deadline(), time(5001));
  ends(0, 5, 0);
  EXPECT_EQ(decide(5), Action::kFinish);
}

TEST_F(EvaluatorPolicy, HasLittleTimeForThemWithoutItsGuard) {
  all_ranks_end_well(1);
  EXPECT_EQ(decide(1), Action::kRelease);
  policy_.on_guard_lost(time(2));
  EXPECT_EQ(decide(502), Action::kKill);
}

TEST_F(EvaluatorPolicy, EndsTheJobWithTheFirstOneThatFails) {
  ends(1, 5, 9);
  EXPECT_EQ(decide(5), Action::kTerminate);
  EXPECT_EQ(policy_.outcome().reason, Reason::kEvaluator);
  EXPECT_EQ(policy_.outcome().code, 9);
  const std::vector<RankName> evaluators = {{.pid = 7, .host = "a"}, {.pid = 8, .host = "b"}};
  EXPECT_EQ(describe(policy_.outcome(), policy_.records(), {}, evaluators),
            "evaluator 1 (pid 8, b) exited with code 9");
  rank_exits(0, 6, 143);
  rank_exits(1, 6, 143);
  ends(0, 6, SIGTERM, true);
  EXPECT_EQ(policy_.decide(time(6), false), Action::kFinish);
  EXPECT_EQ(policy_.outcome().code, 9);
}

TEST_F(EvaluatorPolicy, AddsASignalTo128) {
  ends(0, 5, SIGSEGV, true);
  EXPECT_EQ(decide(5), Action::kTerminate);
  EXPECT_EQ(policy_.outcome().code, 139);
}

TEST_F(EvaluatorPolicy, LetsOneEndWellBeforeTheRanks) {
  ends(0, 1, 0);
  ends(1, 1, 0);
  EXPECT_EQ(decide(1), Action::kNone);
  all_ranks_end_well(2);
  EXPECT_EQ(decide(2), Action::kFinish);
  EXPECT_EQ(policy_.outcome().code, 0);
}

TEST_F(EvaluatorPolicy, LetsARanksFailureBeTheCause) {
  rank_exits(1, 1, 3);
  ends(0, 1, 9);
  EXPECT_EQ(decide(1), Action::kTerminate);
  EXPECT_EQ(policy_.outcome().reason, Reason::kFault);
  EXPECT_EQ(policy_.outcome().code, 3);
}

TEST_F(EvaluatorPolicy, EndsWithTheSignalThatComesWhileTheyEnd) {
  all_ranks_end_well(1);
  EXPECT_EQ(decide(1), Action::kRelease);
  policy_.on_signal(SIGTERM, time(100));
  EXPECT_EQ(decide(100), Action::kTerminate);
  ends(0, 101, 0);
  ends(1, 101, 0);
  EXPECT_EQ(policy_.decide(time(101), false), Action::kFinish);
  EXPECT_EQ(policy_.outcome().code, 128 + SIGTERM);
}

// The ranks agree on a step to stop at. The evaluators are asked only when all ranks have ended.
TEST_F(EvaluatorPolicy, AsksThemAfterRanksThatStopByAgreement) {
  policy_.on_signal(SIGTERM, time(100));
  EXPECT_EQ(decide(100, true), Action::kAgree);
  all_ranks_end_well(200);
  EXPECT_EQ(decide(200), Action::kRelease);
  EXPECT_EQ(decide(201), Action::kNone);
  ends(0, 202, 0);
  ends(1, 202, 0);
  EXPECT_EQ(decide(202), Action::kFinish);
  EXPECT_EQ(policy_.outcome().code, 128 + SIGTERM);
}

}  // namespace
}  // namespace rota::launcher
