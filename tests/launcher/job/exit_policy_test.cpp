// Tests how ExitPolicy decides that a job is over, for which reason, and with which code.
#include "launcher/job/exit_policy.h"
#include "launcher/command/exit_codes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace rota::launcher {
namespace {

using Action = ExitPolicy::Action;
using Kind = Fault::Kind;
using Reason = Outcome::Reason;
using rendezvous::MessageType;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A policy for three ranks, with a clock in milliseconds.
class ExitPolicyTest : public ::testing::Test {
 protected:
  ExitPolicyTest() : policy_(3, {seconds(2), milliseconds(500), seconds(5), time(10'000)}) {}

  static base::TimePoint time(int ms) { return base::TimePoint{} + milliseconds(ms); }

  void exits(std::size_t rank, int ms, int code) { policy_.on_exit(rank, {false, code, time(ms)}); }
  void dies(std::size_t rank, int ms, int signal) {
    policy_.on_exit(rank, {true, signal, time(ms)});
  }
  void aborts(std::size_t rank, int ms, ErrorCode error,
              std::optional<std::uint32_t> blamed = std::nullopt) {
    policy_.on_message(
        rank, {.type = MessageType::kAbort, .error = error, .blamed = blamed, .text = "why"},
        time(ms));
  }
  void waits(std::size_t rank, std::uint32_t peer) {
    policy_.on_message(rank, {.type = MessageType::kWaiting, .blamed = peer}, time(0));
  }
  void resumes(std::size_t rank) {
    policy_.on_message(rank, {.type = MessageType::kResumed}, time(0));
  }
  Action decide(int ms, bool has_children = true) { return policy_.decide(time(ms), has_children); }
  void expect_fault(Kind kind, std::size_t rank, int code) {
    EXPECT_EQ(policy_.outcome().reason, Reason::kFault);
    EXPECT_EQ(policy_.outcome().fault.kind, kind);
    EXPECT_EQ(policy_.outcome().fault.rank, rank);
    EXPECT_EQ(policy_.outcome().code, code);
  }

  ExitPolicy policy_;
};

TEST_F(ExitPolicyTest, FinishesWithZeroWhenAllRanksDo) {
  exits(0, 1, 0);
  exits(1, 1, 0);
  EXPECT_EQ(decide(1), Action::kNone);
  exits(2, 2, 0);
  EXPECT_EQ(decide(2), Action::kFinish);  // The policy does not wait for orphans.
  EXPECT_EQ(policy_.outcome().code, 0);
  EXPECT_EQ(decide(3), Action::kNone);
}

TEST_F(ExitPolicyTest, EndsTheJobWithTheFirstFailingRanksCode) {
  exits(1, 5, 3);
  EXPECT_EQ(decide(5), Action::kTerminate);
  expect_fault(Kind::kDied, 1, 3);
  EXPECT_EQ(policy_.next_deadline(), time(505));
  dies(0, 6, SIGTERM);
  dies(2, 6, SIGTERM);
  EXPECT_EQ(decide(6, false), Action::kFinish);
  expect_fault(Kind::kDied, 1, 3);
}

TEST_F(ExitPolicyTest, AddsASignalTo128) {
  dies(2, 5, SIGSEGV);
  EXPECT_EQ(decide(5), Action::kTerminate);
  expect_fault(Kind::kDied, 2, 139);
}

TEST_F(ExitPolicyTest, KillsWhatDoesNotEndWithinTheGrace) {
  exits(1, 5, 3);
  EXPECT_EQ(decide(5), Action::kTerminate);
  EXPECT_EQ(decide(504), Action::kNone);
  EXPECT_EQ(decide(505), Action::kKill);
  EXPECT_EQ(decide(506), Action::kNone);
  dies(0, 507, SIGKILL);
  dies(2, 507, SIGKILL);
  EXPECT_EQ(decide(507), Action::kFinish);
  expect_fault(Kind::kDied, 1, 3);
}

TEST_F(ExitPolicyTest, GivesUpOnProcessesThatCannotBeKilled) {
  exits(1, 5, 3);
  decide(5);
  EXPECT_EQ(decide(505), Action::kKill);
  EXPECT_EQ(decide(5504), Action::kNone);
  EXPECT_EQ(decide(5505), Action::kFinish);
}

TEST_F(ExitPolicyTest, GivesOrphansTheGraceTooWhenItEndsTheJob) {
  exits(0, 1, 0);
  exits(2, 1, 0);
  exits(1, 5, 3);
  EXPECT_EQ(decide(5), Action::kTerminate);
  EXPECT_EQ(decide(100, true), Action::kNone);
  EXPECT_EQ(decide(200, false), Action::kFinish);
}

TEST_F(ExitPolicyTest, WaitsForTheCodeOfARankThatReportedItsOwnFailure) {
  aborts(1, 5, ErrorCode::kNotFinite);
  EXPECT_EQ(decide(5), Action::kNone);
  EXPECT_EQ(policy_.next_deadline(), time(505));
  exits(0, 7, 1);  // The other ranks have been told about the failure.
  EXPECT_EQ(decide(7), Action::kNone);
  exits(1, 8, 42);
  EXPECT_EQ(decide(8), Action::kTerminate);
  expect_fault(Kind::kReported, 1, 42);
}

TEST_F(ExitPolicyTest, FailsWithOneWhenARankReportsAFailureAndDoesNotExit) {
  aborts(1, 5, ErrorCode::kNotFinite);
  EXPECT_EQ(decide(5), Action::kNone);
  EXPECT_EQ(decide(505), Action::kTerminate);
  expect_fault(Kind::kReported, 1, kExitFailed);
}

TEST_F(ExitPolicyTest, FailsWithOneWhenARankReportsAFailureAndExitsWithZero) {
  aborts(1, 5, ErrorCode::kNotFinite);
  exits(1, 5, 0);
  EXPECT_EQ(decide(5), Action::kTerminate);
  expect_fault(Kind::kReported, 1, kExitFailed);
}

TEST_F(ExitPolicyTest, BlamesTheDeadPeerWhenASurvivorNoticesFirst) {
  aborts(0, 5, ErrorCode::kPeerLost, 2);
  exits(0, 6, 1);
  EXPECT_EQ(decide(6), Action::kNone);
  EXPECT_EQ(policy_.next_deadline(), time(1005));
  dies(2, 9, SIGKILL);
  EXPECT_EQ(decide(9), Action::kTerminate);
  expect_fault(Kind::kDied, 2, 137);
}

TEST_F(ExitPolicyTest, PrefersADeathToAnExitThatBecomesKnownWithIt) {
  exits(0, 6, 1);
  dies(2, 6, SIGKILL);
  EXPECT_EQ(decide(6), Action::kTerminate);
  expect_fault(Kind::kDied, 2, 137);
}

TEST_F(ExitPolicyTest, BlamesTheFirstOfSeveralThatFailByThemselves) {
  exits(1, 6, 4);
  exits(0, 6, 5);
  EXPECT_EQ(decide(6), Action::kTerminate);
  expect_fault(Kind::kDied, 1, 4);
}

TEST_F(ExitPolicyTest, CallsARankSilentThatOthersWaitedForInVain) {
  aborts(0, 2000, ErrorCode::kTimeout, 2);
  EXPECT_EQ(decide(2000), Action::kNone);
  EXPECT_EQ(decide(2100), Action::kTerminate);
  expect_fault(Kind::kSilent, 2, kExitSilent);
}

TEST_F(ExitPolicyTest, ForgetsAWaitThatIsOver) {
  waits(2, 1);
  resumes(2);
  aborts(0, 2000, ErrorCode::kTimeout, 2);
  EXPECT_EQ(decide(2100), Action::kTerminate);
  expect_fault(Kind::kSilent, 2, kExitSilent);
}

TEST_F(ExitPolicyTest, RemembersAWaitThatOnlyTheAbortEnded) {
  waits(2, 1);
  aborts(0, 2000, ErrorCode::kTimeout, 2);
  resumes(2);
  aborts(2, 2001, ErrorCode::kAborted, 0);
  EXPECT_EQ(decide(2100), Action::kTerminate);
  expect_fault(Kind::kSilent, 1, kExitSilent);
}

TEST_F(ExitPolicyTest, CallsItLeavingEarlyWhenANeededRankEndedWell) {
  exits(2, 5, 0);
  EXPECT_EQ(decide(5), Action::kNone);
  aborts(0, 6, ErrorCode::kPeerLost, 2);
  EXPECT_EQ(decide(6), Action::kTerminate);
  expect_fault(Kind::kLeft, 2, kExitLeftEarly);
}

TEST_F(ExitPolicyTest, GivesAMismatchTheReportersCode) {
  aborts(1, 5, ErrorCode::kMismatch, 0);
  aborts(0, 5, ErrorCode::kAborted, 1);
  exits(0, 6, 1);
  exits(1, 6, 7);
  EXPECT_EQ(decide(6), Action::kTerminate);
  expect_fault(Kind::kReported, 1, 7);
}

// When two ranks compare their calls with each other, both may report the mismatch, and both are
// right.
TEST_F(ExitPolicyTest, BlamesTheFirstOfSeveralThatReportAMismatch) {
  aborts(2, 5, ErrorCode::kAborted, 0);  // Rank 2 read about it in shared memory.
  aborts(1, 5, ErrorCode::kMismatch, 0);
  aborts(0, 5, ErrorCode::kMismatch, 1);
  exits(0, 6, 1);
  exits(2, 6, 2);
  exits(1, 6, 7);
  EXPECT_EQ(decide(6), Action::kTerminate);
  expect_fault(Kind::kReported, 1, 7);
}

TEST_F(ExitPolicyTest, LetsACauseReplaceTheEchoThatOvertookIt) {
  aborts(1, 5, ErrorCode::kAborted, 0);
  EXPECT_EQ(decide(5), Action::kNone);
  aborts(0, 6, ErrorCode::kTimeout, 2);
  EXPECT_EQ(decide(6), Action::kNone);
  EXPECT_EQ(policy_.next_deadline(), time(106));
  EXPECT_EQ(decide(106), Action::kTerminate);
  expect_fault(Kind::kSilent, 2, kExitSilent);
}

// A program that aborts for a reason of its own reports only kAborted.
TEST_F(ExitPolicyTest, LetsARanksOwnAbortReplaceTheEchoThatOvertookIt) {
  aborts(1, 5, ErrorCode::kAborted, 0);
  aborts(0, 6, ErrorCode::kAborted);
  EXPECT_EQ(decide(6), Action::kNone);
  exits(0, 7, 42);
  EXPECT_EQ(decide(7), Action::kTerminate);
  expect_fault(Kind::kReported, 0, 42);
}

TEST_F(ExitPolicyTest, EndsTheJobWhenARankStaysStopped) {
  policy_.on_stopped(1, time(100));
  EXPECT_EQ(decide(100), Action::kNone);
  EXPECT_EQ(policy_.next_deadline(), time(2100));
  EXPECT_EQ(decide(2100), Action::kNone);
  EXPECT_EQ(policy_.next_deadline(), time(2300));
  EXPECT_EQ(decide(2300), Action::kTerminate);
  expect_fault(Kind::kStopped, 1, kExitSilent);
}

TEST_F(ExitPolicyTest, ForgivesARankThatIsContinuedInTime) {
  policy_.on_stopped(1, time(100));
  EXPECT_EQ(decide(5000), Action::kNone);  // rotarun was suspended, too, so it looks late.
  policy_.on_continued(1);
  EXPECT_EQ(decide(5300), Action::kNone);
  policy_.on_stopped(1, time(6000));
  EXPECT_EQ(decide(8000), Action::kNone);
  EXPECT_EQ(decide(8200), Action::kTerminate);
}

TEST_F(ExitPolicyTest, EndsTheJobAtItsTimeout) {
  exits(1, 5, 0);
  EXPECT_EQ(decide(5), Action::kNone);
  EXPECT_EQ(policy_.next_deadline(), time(10'000));
  EXPECT_EQ(decide(10'000), Action::kTerminate);
  EXPECT_EQ(policy_.outcome().reason, Reason::kTimeout);
  EXPECT_EQ(policy_.outcome().code, kExitTimeout);
  EXPECT_THAT(policy_.outcome().running, ::testing::ElementsAre(0, 2));
}

TEST_F(ExitPolicyTest, EndsTheJobOnASignalAndSaysSoWhateverTheRanksReturn) {
  policy_.on_signal(SIGTERM, time(5));
  EXPECT_EQ(decide(5), Action::kTerminate);
  EXPECT_EQ(policy_.outcome().reason, Reason::kSignal);
  EXPECT_EQ(policy_.outcome().code, 143);
  for (std::size_t rank = 0; rank < 3; ++rank) exits(rank, 6, 0);
  EXPECT_EQ(decide(6, false), Action::kFinish);
  EXPECT_EQ(policy_.outcome().code, 143);
}

TEST_F(ExitPolicyTest, TakesASignalForTheCauseOfDeathsThatComeWithIt) {
  policy_.on_signal(SIGINT, time(5));
  dies(0, 5, SIGINT);
  EXPECT_EQ(decide(5), Action::kTerminate);
  EXPECT_EQ(policy_.outcome().reason, Reason::kSignal);
  EXPECT_EQ(policy_.outcome().code, 130);
}

TEST_F(ExitPolicyTest, KeepsAFailureThatCameBeforeTheSignal) {
  aborts(1, 5, ErrorCode::kNotFinite);
  EXPECT_EQ(decide(5), Action::kNone);
  policy_.on_signal(SIGTERM, time(6));
  EXPECT_EQ(decide(6), Action::kTerminate);  // The policy no longer waits for rank 1's exit code.
  expect_fault(Kind::kReported, 1, kExitFailed);
}

TEST_F(ExitPolicyTest, TakesADoubledSignalForOneAndALaterOneForImpatience) {
  ExitPolicy policy(1, {seconds(2), seconds(60), seconds(60), std::nullopt});
  policy.on_signal(SIGINT, time(5));
  policy.on_signal(SIGINT, time(6));
  EXPECT_EQ(policy.decide(time(6), true), Action::kTerminate);
  EXPECT_EQ(policy.decide(time(7), true), Action::kNone);
  policy.on_signal(SIGINT, time(1005));
  EXPECT_EQ(policy.decide(time(1005), true), Action::kKill);
}

// The signal goes to the whole process group, and the outer process also passes it on, possibly
// late because it waits for a CPU.
TEST_F(ExitPolicyTest, TakesASignalThatWasSentAndPassedOnLateForOne) {
  ExitPolicy policy(1, {seconds(2), seconds(60), seconds(60), std::nullopt});
  policy.on_signal(SIGTERM, time(5));
  EXPECT_EQ(policy.decide(time(6), true), Action::kTerminate);
  policy.on_signal(SIGTERM, time(905));
  EXPECT_EQ(policy.decide(time(905), true), Action::kNone);
  policy.on_signal(SIGTERM, time(1005));
  EXPECT_EQ(policy.decide(time(1005), true), Action::kKill);
}

TEST_F(ExitPolicyTest, TakesASignalThatIsTypedSoonAgainForImpatience) {
  for (const bool was_typed : {false, true}) {
    ExitPolicy policy(1, {seconds(2), seconds(60), seconds(60), std::nullopt});
    policy.on_signal(SIGINT, time(5), {}, was_typed);
    policy.on_signal(SIGINT, time(100), {}, true);
    EXPECT_EQ(policy.decide(time(100), true), Action::kTerminate);
    EXPECT_EQ(policy.decide(time(101), true), Action::kNone);
    policy.on_signal(SIGINT, time(205), {}, true);
    EXPECT_EQ(policy.decide(time(205), true), Action::kKill);
  }
}

TEST_F(ExitPolicyTest, TakesASignalDuringALongEndForImpatience) {
  ExitPolicy policy(2, {seconds(2), seconds(60), seconds(60), std::nullopt});
  policy.on_exit(0, {false, 3, time(5)});
  EXPECT_EQ(policy.decide(time(5), true), Action::kTerminate);
  policy.on_signal(SIGINT, time(2000));
  EXPECT_EQ(policy.decide(time(2000), true), Action::kKill);
  EXPECT_EQ(policy.outcome().code, 3);
}

TEST_F(ExitPolicyTest, ShortensTheGraceWhenItsGuardIsGone) {
  ExitPolicy policy(1, {seconds(2), seconds(60), seconds(60), std::nullopt});
  policy.on_guard_lost(time(5));
  policy.on_signal(SIGTERM, time(5));
  EXPECT_EQ(policy.decide(time(5), true), Action::kTerminate);
  EXPECT_EQ(policy.next_deadline(), time(505));
}

TEST_F(ExitPolicyTest, HasTheRanksAgreeOnTheStopSignal) {
  for (const int stop : {SIGUSR1, SIGUSR2}) {
    ExitPolicy policy(1, {seconds(2), milliseconds(500), seconds(5), std::nullopt, stop});
    const Action expected = stop == SIGUSR1 ? Action::kAgree : Action::kTerminate;
    policy.on_signal(SIGUSR1, time(5));
    EXPECT_EQ(policy.decide(time(5), true, true), expected);
    EXPECT_EQ(policy.outcome().code, 128 + SIGUSR1);
  }
}

TEST_F(ExitPolicyTest, HasTheRanksAgreeOnSigtermWhereTheyCan) {
  policy_.on_signal(SIGTERM, time(5));
  EXPECT_EQ(policy_.decide(time(5), true, true), Action::kAgree);
  EXPECT_EQ(policy_.next_deadline(), time(5005));
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(policy_.decide(time(6), true, true), Action::kNone);
    exits(rank, 100, 0);
  }
  // The policy does not wait for orphans, because nobody has asked them to end.
  EXPECT_EQ(decide(100), Action::kFinish);
  EXPECT_EQ(policy_.outcome().code, 143);
}

TEST_F(ExitPolicyTest, KeepsToItsCodeWhateverHappensDuringAnAgreedStop) {
  policy_.on_signal(SIGTERM, time(5));
  EXPECT_EQ(policy_.decide(time(5), true, true), Action::kAgree);
  dies(1, 100, SIGSEGV);
  aborts(0, 101, ErrorCode::kPeerLost, 1);
  EXPECT_EQ(decide(200), Action::kNone);
  EXPECT_EQ(decide(5005), Action::kKill);
  dies(0, 5006, SIGKILL);
  dies(2, 5006, SIGKILL);
  EXPECT_EQ(decide(5006), Action::kFinish);
  EXPECT_EQ(policy_.outcome().code, 143);
}

TEST_F(ExitPolicyTest, EndsAnAgreedStopAtOnceWhenItIsAskedAgain) {
  policy_.on_signal(SIGTERM, time(5));
  EXPECT_EQ(policy_.decide(time(5), true, true), Action::kAgree);
  policy_.on_signal(SIGTERM, time(1005));
  EXPECT_EQ(decide(1005), Action::kKill);
}

TEST_F(ExitPolicyTest, HasNobodyAgreeOnOtherSignals) {
  for (const int signal : {SIGINT, SIGHUP, SIGQUIT}) {
    ExitPolicy policy(1, {seconds(2), milliseconds(500), seconds(5), std::nullopt});
    policy.on_signal(signal, time(5));
    EXPECT_EQ(policy.decide(time(5), true, true), Action::kTerminate);
  }
}

TEST_F(ExitPolicyTest, HasNobodyAgreeWhenItsGuardIsGone) {
  policy_.on_guard_lost(time(5));
  policy_.on_signal(SIGTERM, time(5));
  EXPECT_EQ(policy_.decide(time(5), true, true), Action::kTerminate);
}

TEST_F(ExitPolicyTest, GivesMoreTimeAfterARequestThanAfterAFailure) {
  exits(0, 5, 3);
  EXPECT_EQ(decide(5), Action::kTerminate);
  EXPECT_EQ(policy_.next_deadline(), time(505));
  ExitPolicy asked(1, {seconds(2), milliseconds(500), seconds(5), std::nullopt});
  asked.on_signal(SIGINT, time(5));
  EXPECT_EQ(asked.decide(time(5), true), Action::kTerminate);
  EXPECT_EQ(asked.next_deadline(), time(5005));
}

TEST_F(ExitPolicyTest, GivesLittleTimeToWhatTheRanksHaveLeftBehind) {
  policy_.on_signal(SIGINT, time(5));
  EXPECT_EQ(decide(5), Action::kTerminate);
  for (std::size_t rank = 0; rank < 3; ++rank) exits(rank, 1000, 0);
  EXPECT_EQ(decide(1000), Action::kNone);
  EXPECT_EQ(policy_.next_deadline(), time(1500));
  EXPECT_EQ(decide(1200), Action::kNone);
  EXPECT_EQ(decide(1500), Action::kKill);
}

// A cluster that ends a job asks its hosts one after another.
TEST_F(ExitPolicyTest, TakesTheSameRequestOnSeveralHostsForOne) {
  policy_.on_signal(SIGTERM, time(5), "host 1");
  EXPECT_EQ(decide(5), Action::kTerminate);
  policy_.on_signal(SIGTERM, time(2000));
  policy_.on_signal(SIGTERM, time(2500), "host 2");
  EXPECT_EQ(decide(2500), Action::kNone);
  policy_.on_signal(SIGTERM, time(3000));
  EXPECT_EQ(decide(3000), Action::kKill);
}

TEST_F(ExitPolicyTest, EndsTheJobWhenARankCannotBeStarted) {
  policy_.on_not_started("cannot run x: Exec format error", kExitCannotRun);
  exits(0, 5, 127);
  EXPECT_EQ(decide(5), Action::kTerminate);
  EXPECT_EQ(policy_.outcome().reason, Reason::kNotStarted);
  EXPECT_EQ(policy_.outcome().code, kExitCannotRun);
}

TEST_F(ExitPolicyTest, WaitsForAReaderUntilTheTimeout) {
  for (std::size_t rank = 0; rank < 3; ++rank) exits(rank, 1, 0);
  EXPECT_EQ(decide(1, false), Action::kFinish);
  EXPECT_TRUE(policy_.waits_for_reader(time(9'999)));
  EXPECT_EQ(policy_.next_deadline(), time(10'499));
  EXPECT_TRUE(policy_.waits_for_reader(time(10'498)));
  EXPECT_EQ(policy_.outcome().code, 0);
  EXPECT_FALSE(policy_.waits_for_reader(time(10'499)));
  EXPECT_EQ(policy_.outcome().code, kExitTimeout);
}

TEST_F(ExitPolicyTest, WaitsForAReaderUntilASignal) {
  for (std::size_t rank = 0; rank < 3; ++rank) exits(rank, 1, 0);
  decide(1, false);
  EXPECT_TRUE(policy_.waits_for_reader(time(2)));
  policy_.on_signal(SIGTERM, time(100));
  policy_.on_signal(SIGTERM, time(400));
  EXPECT_TRUE(policy_.waits_for_reader(time(599)));
  EXPECT_FALSE(policy_.waits_for_reader(time(600)));
  EXPECT_EQ(policy_.outcome().code, 143);
}

TEST_F(ExitPolicyTest, WaitsForAReaderOfAFailureWithoutLosingItsCode) {
  ExitPolicy policy(1, {seconds(2), milliseconds(500), seconds(5), std::nullopt});
  policy.on_exit(0, {false, 3, time(1)});
  EXPECT_EQ(policy.decide(time(1), false), Action::kTerminate);
  EXPECT_EQ(policy.decide(time(1), false), Action::kFinish);
  EXPECT_TRUE(policy.waits_for_reader(time(1'000'000)));
  policy.on_signal(SIGTERM, time(1'000'000));
  EXPECT_FALSE(policy.waits_for_reader(time(1'000'500)));
  EXPECT_EQ(policy.outcome().code, 3);
}

TEST_F(ExitPolicyTest, SaysWhoGotASignalThatWasNotForUs) {
  policy_.on_signal(SIGTERM, time(5), "host 1 (b:2222)");
  policy_.on_signal(SIGINT, time(6));
  EXPECT_EQ(decide(6), Action::kTerminate);
  EXPECT_EQ(policy_.outcome().reason, Reason::kSignal);
  EXPECT_EQ(policy_.outcome().signal, SIGTERM);
  EXPECT_EQ(policy_.outcome().code, 143);
  EXPECT_EQ(policy_.outcome().text, "host 1 (b:2222)");
}

TEST_F(ExitPolicyTest, NamesNobodyForASignalThatWasForUs) {
  policy_.on_signal(SIGTERM, time(5));
  policy_.on_signal(SIGTERM, time(6), "host 1 (b:2222)");
  EXPECT_EQ(decide(6), Action::kTerminate);
  EXPECT_EQ(policy_.outcome().text, "");
}

TEST_F(ExitPolicyTest, SaysWhoGotASignalWhileAReaderIsWaitedFor) {
  for (std::size_t rank = 0; rank < 3; ++rank) exits(rank, 1, 0);
  EXPECT_EQ(decide(1, false), Action::kFinish);
  policy_.on_signal(SIGHUP, time(2), "host 2 (c:2222)");
  EXPECT_EQ(policy_.outcome().code, 129);
  EXPECT_EQ(policy_.outcome().text, "host 2 (c:2222)");
}

TEST_F(ExitPolicyTest, IgnoresMessagesThatSayNothingAboutFailure) {
  policy_.on_message(0, {.type = MessageType::kJoin}, time(0));
  policy_.on_message(0, {.type = MessageType::kLeave}, time(0));
  EXPECT_EQ(decide(1), Action::kNone);
}

}  // namespace
}  // namespace rota::launcher
