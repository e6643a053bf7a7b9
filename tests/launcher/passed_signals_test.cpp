// rotarun passes SIGUSR1 and SIGUSR2 on to its ranks and goes on, unless --stop-signal says that
// one of them asks for the job's end.
#include <signal.h>

#include <thread>

#include "launcher/launched.h"
#include "os/process.h"

namespace rota::launcher {
namespace {

// A shell runs its trap at once while it waits, and goes on afterwards.
constexpr const char* kRun = "while :; do sleep 1000 & wait; done";

class PassedSignals : public Launched {
 protected:
  // Returns a script that starts a child and waits for it. The child prints "child warned" if it
  // gets SIGUSR1.
  std::string child() const {
    return "sh -c 'trap \"echo child warned\" USR1; touch " + folder_ + "/child.$ROTA_RANK; " +
           kRun + "' & until [ -e " + folder_ + "/child.$ROTA_RANK ]; do sleep 0.02; done; ";
  }
};

struct PassedCase {
  int number;
  const char* name;
};

class EachPassedSignal : public PassedSignals, public ::testing::WithParamInterface<PassedCase> {};

TEST_P(EachPassedSignal, ReachesEachRankAndLeavesRotarunAlive) {
  const auto [number, name] = GetParam();
  Process process(rotarun(
      script({"-np", "3", "--oversubscribe"}, std::string("trap 'echo warned; exit 0' ") + name +
                                                  "; echo ready; while :; do sleep 0.02; done")));
  ASSERT_TRUE(process.wait_for("ready\nready\nready\n")) << process.err();
  process.signal(number);
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "ready\nready\nready\nwarned\nwarned\nwarned\n");
  EXPECT_EQ(result.err, "");
}

TEST_P(EachPassedSignal, IsARequestToEndIfItIsTheStopSignal) {
  const auto [number, name] = GetParam();
  Process process(
      rotarun(script({"-np", "2", "--stop-signal", name},
                     std::string("trap 'echo asked; exit 0' TERM; trap 'echo warned' USR1 USR2; ") +
                         "echo ready; " + kRun)));
  ASSERT_TRUE(process.wait_for("ready\nready\n")) << process.err();
  const bool is_first = number == SIGUSR1;
  process.signal(is_first ? SIGUSR2 : SIGUSR1);  // Is passed on as before.
  ASSERT_TRUE(process.wait_for("warned\nwarned\n")) << process.err();
  process.signal(number);
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 128 + number);
  EXPECT_EQ(result.err, std::string("rotarun: got SIG") + name + ", so the job ends\n");
  EXPECT_EQ(result.out, "ready\nready\nwarned\nwarned\nasked\nasked\n");
}

INSTANTIATE_TEST_SUITE_P(Signals, EachPassedSignal,
                         ::testing::Values(PassedCase{SIGUSR1, "USR1"},
                                           PassedCase{SIGUSR2, "USR2"}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_F(PassedSignals, GoToTheFirstProcessOfARankAlone) {
  Process process(rotarun(script({"-np", "2"}, "trap 'echo warned; sleep 0.2; exit 0' USR1; " +
                                                   child() + "echo ready; " + kRun)));
  ASSERT_TRUE(process.wait_for("ready\nready\n")) << process.err();
  process.signal(SIGUSR1);
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "ready\nready\nwarned\nwarned\n");
}

// An evaluator has no handler: a warning meant for the ranks would end it, and the job.
TEST_F(PassedSignals, DoNotGoToEvaluators) {
  const std::string there = folder_ + "/there";
  std::vector<std::string> both =
      script({"-np", "1"}, "trap 'echo warned; sleep 0.2; exit 0' USR1; until [ -e " + there +
                               " ]; do sleep 0.02; done; echo ready; " + kRun);
  both.insert(both.end(), {":", "--role", "evaluator"});
  Process process(rotarun(
      script(std::move(both), "trap 'echo asked; exit 0' TERM; touch " + there + "; " + kRun)));
  ASSERT_TRUE(process.wait_for("ready\n")) << process.err();
  process.signal(SIGUSR1);
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "ready\nwarned\nasked\n");
}

// Method: the second signal follows as soon as the first has arrived.
TEST_F(PassedSignals, ArriveAsOftenAsTheyAreSent) {
  Process process(rotarun(script({"-np", "1"},
                                 "n=0; trap 'n=$((n+1)); echo warned $n' USR1; echo ready; while "
                                 "[ $n -lt 5 ]; do sleep 0.02; done")));
  ASSERT_TRUE(process.wait_for("ready\n")) << process.err();
  for (int count = 1; count <= 5; ++count) {
    process.signal(SIGUSR1);
    ASSERT_TRUE(process.wait_for("warned " + std::to_string(count) + "\n")) << process.err();
  }
  EXPECT_EQ(process.wait().exit_code, 0);
}

TEST_F(PassedSignals, ArriveIfTheyAreSentToTheInnerProcess) {
  Process process(
      rotarun(script({"-np", "1"}, std::string("trap 'exit 0' USR2; echo ready; ") + kRun)));
  ASSERT_TRUE(process.wait_for("ready\n")) << process.err();
  const auto descendants = os::descendants_of(process.pid());
  ASSERT_FALSE(descendants.empty());
  ::kill(descendants.front(), SIGUSR2);
  EXPECT_EQ(process.wait().exit_code, 0);
}

// Such a rank ends as it would without rotarun.
TEST_F(PassedSignals, EndARankThatDoesNotHandleThem) {
  Process process(rotarun(script({"-np", "1"}, "echo ready; exec sleep 1000")));
  ASSERT_TRUE(process.wait_for("ready\n")) << process.err();
  process.signal(SIGUSR1);
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 128 + SIGUSR1);
  EXPECT_THAT(result.err, ::testing::StartsWith("rotarun: rank 0 (pid "));
  EXPECT_THAT(result.err,
              HasSubstr(") was killed by SIGUSR1: rotarun had passed SIGUSR1 on to all ranks, and "
                        "this one does not handle it: handle it in the program, or make it a "
                        "request to end by --stop-signal USR1\n"));
}

TEST_F(PassedSignals, AreNotBlamedIfTheSignalCameFromElsewhere) {
  const Result result = run_rotarun(script({"-np", "1"}, "kill -USR1 $$"));
  EXPECT_EQ(result.exit_code, 128 + SIGUSR1);
  EXPECT_THAT(result.err, HasSubstr(") was killed by SIGUSR1\n"));
}

TEST_F(PassedSignals, AreIgnoredIfTheyWereAtTheStart) {
  const std::string command = "trap '' USR1; exec " + testing::rotarun_path() +
                              " -np 1 sh -c 'echo ready; exec sleep 1000'";
  Process process({.arguments = {"/bin/sh", "-c", command}});
  ASSERT_TRUE(process.wait_for("ready\n")) << process.err();
  process.signal(SIGUSR1);
  std::this_thread::sleep_for(milliseconds(100));
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().exit_code, 128 + SIGTERM);
}

}  // namespace
}  // namespace rota::launcher
