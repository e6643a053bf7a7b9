// Tests every way in which a job can end, its exit code, and the messages about it. Ranks that
// rotarun must end sleep longer than any test may take, so a test fails if rotarun does not end
// them. tests/timed measures how soon they end.
#include <signal.h>

#include <fstream>

#include "launcher/launched.h"

namespace rota::launcher {
namespace {

class ExitCode : public Launched {};

TEST_F(ExitCode, IsZeroWhenAllRanksEndWell) {
  const Result result = run_rotarun({"-np", "4", "--oversubscribe", "true"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "");
}

TEST_F(ExitCode, IsThatOfTheFirstRankThatFails) {
  const Result result = run_rotarun(script(
      {"-np", "4"},
      "if [ $ROTA_RANK = 2 ]; then echo $$; echo first >&2; echo second >&2; exit 3; fi; exec "
      "sleep 1000"));
  EXPECT_EQ(result.exit_code, 3);
  const std::string pid = result.out.substr(0, result.out.find('\n'));
  EXPECT_THAT(result.err, HasSubstr("rotarun: rank 2 (pid " + pid + ", "));
  EXPECT_THAT(result.err, HasSubstr(") exited with code 3\n"));
  EXPECT_THAT(result.err, HasSubstr("rotarun: its last lines of stderr:\n"
                                    "rotarun:   first\nrotarun:   second\n"));
}

// The test also uses codes that have another meaning when rotarun itself exits with them.
TEST_F(ExitCode, IsThePrograms) {
  for (const int code : {2, 79, 124, 126, 127, 128, 137, 201, 255}) {
    const std::string text = std::to_string(code);
    const Result result = run_rotarun(script({"-np", "2"}, "[ $ROTA_RANK = 0 ] || exit " + text));
    EXPECT_EQ(result.exit_code, code);
    EXPECT_THAT(result.err, HasSubstr("exited with code " + text + "\n"));
  }
}

TEST_F(ExitCode, Is128AndTheSignalThatEndedARank) {
  for (const auto& [name, number] :
       {std::pair("KILL", 9), {"SEGV", 11}, {"TERM", 15}, {"ABRT", 6}}) {
    const Result result = run_rotarun(script(
        {"-np", "3"}, "[ $ROTA_RANK = 1 ] && kill -" + std::string(name) + " $$; exec sleep 1000"));
    EXPECT_EQ(result.exit_code, 128 + number);
    EXPECT_THAT(result.err, HasSubstr("rotarun: rank 1 (pid "));
    EXPECT_THAT(result.err, HasSubstr(std::string("was killed by SIG") + name + "\n"));
  }
}

TEST_F(ExitCode, Is124AtTheTimeoutAndTheRunningRanksAreNamed) {
  const Result result = run_rotarun(
      script({"-np", "3", "--timeout", "0.3"}, "[ $ROTA_RANK = 1 ] || exec sleep 1000"));
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_THAT(result.err,
              HasSubstr("rotarun: --timeout has passed; still running: rank 0, rank 2\n"));
}

TEST_F(ExitCode, Is127WhenTheProgramIsNotFound) {
  const Result result = run_rotarun({"-np", "2", "there-is-no-such-program"});
  EXPECT_EQ(result.exit_code, 127);
  EXPECT_EQ(result.err,
            "rotarun: cannot run there-is-no-such-program: No such file or directory in PATH\n");
  EXPECT_EQ(run_rotarun({"-np", "2", "./neither"}).exit_code, 127);
}

TEST_F(ExitCode, Is126WhenTheProgramCannotBeRun) {
  const std::string file = folder_ + "/file";
  std::ofstream(file) << "\x7f"
                      << "ELF, or so it says\n";
  EXPECT_EQ(run_rotarun({"-np", "2", file}).exit_code, 126);
  EXPECT_THAT(run_rotarun({"-np", "2", file}).err, HasSubstr("Permission denied"));
  EXPECT_EQ(run_rotarun({"-np", "2", folder_}).exit_code, 126);
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  const Result result = run_rotarun({"-np", "2", file});
  EXPECT_EQ(result.exit_code, 126);
  EXPECT_THAT(result.err, HasSubstr("rotarun: cannot run " + file + ": Exec format error"));
  std::ofstream(file) << "#!/there/is/no/interpreter\n";
  EXPECT_EQ(run_rotarun({"-np", "2", file}).exit_code, 126);
}

TEST_F(ExitCode, Is2WhenTheCommandLineMakesNoSense) {
  const Result result = run_rotarun({"--bind-two", "core", "true"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "rotarun: unknown option --bind-two; did you mean --bind-to?\n"
            "rotarun: try rotarun --help\n");
  EXPECT_EQ(run_rotarun({}).exit_code, 2);
  EXPECT_EQ(run_rotarun({"-np", "0", "true"}).exit_code, 2);
  EXPECT_EQ(run_rotarun({"-np", "1e99", "true"}).exit_code, 2);
}

TEST_F(ExitCode, Is2WhenADirectoryIsNone) {
  Result result = run_rotarun({"--wdir", "/there/is/none", "true"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "rotarun: --wdir /there/is/none: No such file or directory\n");
  std::ofstream(folder_ + "/file") << "";
  result = run_rotarun({"--output-filename", folder_ + "/file", "echo", "started"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("rotarun: --output-filename: " + folder_ + "/file"));
  EXPECT_EQ(result.out, "");
}

struct SignalCase {
  int number;
  const char* name;
  const char* trapped;  // The signal that the ranks receive.
};

class ExitCodeOfSignal : public Launched, public ::testing::WithParamInterface<SignalCase> {};

// If the signal ends the sleep before it reaches the shell, the shell must wait again: otherwise
// the shell would end without running its trap.
TEST_P(ExitCodeOfSignal, Is128AndItsNumber) {
  const auto [number, name, trapped] = GetParam();
  Process process(
      rotarun(script({"-np", "2"}, std::string("trap 'echo trapped; exit 0' ") + trapped +
                                       "; echo ready; while :; do sleep 1000 & wait; done")));
  ASSERT_TRUE(process.wait_for("ready\nready\n"));
  process.signal(number);
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 128 + number);
  EXPECT_EQ(result.err, std::string("rotarun: got ") + name + ", so the job ends\n");
  EXPECT_THAT(result.out, HasSubstr("trapped\ntrapped\n"));
}

INSTANTIATE_TEST_SUITE_P(Signals, ExitCodeOfSignal,
                         ::testing::Values(SignalCase{SIGTERM, "SIGTERM", "TERM"},
                                           SignalCase{SIGINT, "SIGINT", "INT"},
                                           SignalCase{SIGHUP, "SIGHUP", "TERM"},
                                           SignalCase{SIGQUIT, "SIGQUIT", "TERM"}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_F(ExitCode, StaysThatOfASignalWhenRanksHaveToBeKilled) {
  Process process(rotarun(script({"-np", "2", "--grace", "0.2"},
                                 "trap '' TERM; echo ready; while :; do sleep 1; done")));
  ASSERT_TRUE(process.wait_for("ready\nready\n"));
  process.signal(SIGTERM);
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 143);
  EXPECT_THAT(result.err,
              HasSubstr("rotarun: killed the processes that had not ended: rank 0, rank 1\n"));
}

TEST_F(ExitCode, StaysThatOfOneInterruptThatComesTwice) {
  Process process(rotarun(script({"-np", "2", "--grace", "10"},
                                 "trap 'sleep 0.1; echo done; exit 0' INT; echo ready; "
                                 "while :; do sleep 0.05; done")));
  ASSERT_TRUE(process.wait_for("ready\nready\n"));
  process.signal(SIGINT);
  process.signal(SIGINT);
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_THAT(result.out, HasSubstr("done\ndone\n"));
  EXPECT_THAT(result.err, Not(HasSubstr("killed what")));
}

TEST_F(ExitCode, Is201WhenARankStaysStopped) {
  const Result result = run_rotarun(script({"-np", "3", "--deadline", "1"},
                                           "[ $ROTA_RANK = 1 ] && kill -STOP $$; exec sleep 1000"));
  EXPECT_EQ(result.exit_code, 201);
  EXPECT_THAT(result.err, HasSubstr("rotarun: rank 1 (pid "));
  EXPECT_THAT(result.err, HasSubstr(") is silent: it is stopped\n"));
}

TEST_F(ExitCode, Is201WhenTheLastRankStaysStopped) {
  const Result result =
      run_rotarun(script({"-np", "2", "--deadline", "0.5"}, "[ $ROTA_RANK = 0 ] || kill -STOP $$"));
  EXPECT_EQ(result.exit_code, 201);
}

TEST_F(ExitCode, IsZeroWhenAStoppedRankIsContinuedInTime) {
  const Result result = run_rotarun(
      script({"-np", "2", "--deadline", "20"},
             "if [ $ROTA_RANK = 1 ]; then (sleep 0.2; kill -CONT $$) & kill -STOP $$; wait; fi"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
}

}  // namespace
}  // namespace rota::launcher
