// Tests several programs in one job, with the real rotarun: the ranks are in one world, and the
// evaluators are outside of it.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "launcher/launched.h"

namespace rota::launcher {
namespace {

using ::testing::ElementsAre;

class Programs : public Launched {
 protected:
  // Returns a script that waits until another script has run `come`.
  std::string until_there() const { return "until [ -e " + there() + " ]; do sleep 0.02; done; "; }
  std::string come() const { return "touch " + there() + "; "; }

  // Returns a script that runs until it is asked to end, and then prints "asked".
  std::string until_asked() const {
    return "trap 'echo asked; exit 0' TERM; echo on; " + come() + "while :; do sleep 0.02; done";
  }

  static std::vector<std::string> sorted_lines(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    std::ranges::sort(lines);
    return lines;
  }

  static std::vector<std::string> beside(std::vector<std::string> first,
                                         const std::vector<std::string>& options,
                                         const std::string& text) {
    first.emplace_back(":");
    first.insert(first.end(), options.begin(), options.end());
    return script(std::move(first), text);
  }

 private:
  std::string there() const { return folder_ + "/there"; }
};

TEST_F(Programs, AreOneWorldWithRanksGroupAfterGroup) {
  const std::vector<std::string> first =
      script({"-np", "2", "--oversubscribe", "-x", "A=1"}, "echo one $ROTA_RANK $A $B");
  const Result result = run_rotarun(
      beside(first, {"-np", "1", "-x", "B=2", "--wdir", folder_},
             "echo two $ROTA_RANK/$ROTA_WORLD_SIZE $ROTA_LOCAL_RANK $A $B; touch here"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(sorted_lines(result.out), ElementsAre("one 0 1", "one 1 1", "two 2/3 2 2"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/here"));
  const Result sum = run_rotarun({"-np", "2", "--oversubscribe", kSum, ":", "-np", "1", kSum});
  EXPECT_THAT(sorted_lines(sum.out),
              ElementsAre("rank 0 of 3 by rotarun -np 3: 6", "rank 1 of 3 by rotarun -np 3: 6",
                          "rank 2 of 3 by rotarun -np 3: 6"));
}

TEST_F(Programs, AreAllLookedForBeforeAnythingStarts) {
  const Result missing =
      run_rotarun({"-np", "1", "echo", "started", ":", "-np", "1", "/nonexistent/b"});
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_EQ(missing.out, "");
  EXPECT_THAT(missing.err, HasSubstr("cannot run /nonexistent/b"));
  const Result unfit =
      run_rotarun({"-np", "1", "echo", "started", ":", "--role", "evaluator", folder_ + "/"});
  EXPECT_EQ(unfit.exit_code, 126);
  EXPECT_EQ(unfit.out, "");
  EXPECT_EQ(run_rotarun({"-np", "1", "true", ":", "-np", "1", "--wdir", "/none", "true"}).exit_code,
            2);
}

TEST_F(Programs, MayEvaluateUntilTheRanksHaveEnded) {
  const std::string logs = folder_ + "/logs";
  const Result result = run_rotarun(
      beside(script({"-np", "2", "--tag-output", "--output-filename", logs}, until_there()),
             {"--role", "evaluator"}, until_asked()));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "[evaluator 0] on\n[evaluator 0] asked\n");
  EXPECT_TRUE(std::filesystem::exists(logs + "/evaluator.0/stdout"));
}

TEST_F(Programs, ThatEvaluateHaveNoRank) {
  testing::Command command = rotarun(beside(
      script({"-np", "1", "--ports", "61200-61299"},
             "until [ -e " + folder_ + "/0 ] && [ -e " + folder_ + "/1 ]; do sleep 0.02; done"),
      {"--role", "evaluator", "-np", "2", "-x", "C=3"},
      "echo $ROTA_ROLE $ROTA_ROLE_INDEX $C ${RANK-no} ${ROTA_RANK-no} ${ROTA_RENDEZVOUS_FD-no} "
      "$TF_CONFIG; touch " +
          folder_ + "/$ROTA_ROLE_INDEX"));
  command.environment = {"RANK=5", "WORLD_SIZE=1", "ROTA_ROLE=x"};
  command.arguments.insert(command.arguments.begin() + 1, "--this-host");
  const Result result = run(std::move(command));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto lines = sorted_lines(result.out);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], HasSubstr("evaluator 0 3 no no no {\"cluster\":{\"worker\":[\"127.0.0.1:"));
  EXPECT_THAT(lines[1], HasSubstr("\"task\":{\"type\":\"evaluator\",\"index\":1}}"));
}

// Evaluators ignore TF_CONFIG, which is meant for programs of other frameworks.
TEST_F(Programs, ThatEvaluateAreAloneWhereTheyAreRotas) {
  const std::string nested = testing::rotarun_path() + " -np 1 " + kSum;
  const Result result =
      run_rotarun(beside(script({"-np", "2"}, until_there()), {"--role", "evaluator"},
                         kSum + "; " + nested + "; " + come()));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "rank 0 of 1 by started by hand: 1\nrank 0 of 1 by rotarun -np 1: 1\n");
}

TEST_F(Programs, ThatEvaluateEndTheJobWhereTheyFail) {
  const Result result = run_rotarun(beside({"-np", "2", "sleep", "1000"}, {"--role", "evaluator"},
                                           "echo last words >&2; exit 9"));
  EXPECT_EQ(result.exit_code, 9);
  EXPECT_THAT(result.err, HasSubstr("rotarun: evaluator 0 (pid "));
  EXPECT_THAT(result.err, HasSubstr(") exited with code 9\n"));
  EXPECT_THAT(result.err, HasSubstr("rotarun:   last words\n"));
  const Result killed =
      run_rotarun(beside({"-np", "1", "sleep", "1000"}, {"--role", "evaluator"}, "kill -SEGV $$"));
  EXPECT_EQ(killed.exit_code, 139);
}

TEST_F(Programs, ThatEvaluateEndWithAFailedRank) {
  const Result result = run_rotarun(beside(script({"-np", "1"}, until_there() + "exit 4"),
                                           {"--role", "evaluator"}, until_asked()));
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("rank 0 (pid "));
}

TEST_F(Programs, ThatEvaluateAreKilledAfterTheGrace) {
  const Result result =
      run_rotarun(beside(script({"-np", "1", "--grace", "0.2"}, until_there()),
                         {"--role", "evaluator"}, "trap '' TERM; " + come() + "exec sleep 1000"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "rotarun: killed the processes that had not ended: evaluator 0\n");
}

TEST_F(Programs, ThatEvaluateEndWhenRotarunIsAskedTo) {
  Process job(
      rotarun(beside({"-np", "1", "sleep", "1000"}, {"--role", "evaluator"}, until_asked())));
  EXPECT_TRUE(job.wait_for("on\n"));
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait().exit_code, 143);
  EXPECT_THAT(job.out(), HasSubstr("asked\n"));
}

}  // namespace
}  // namespace rota::launcher
