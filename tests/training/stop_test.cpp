// When rotarun is asked to end a training run, every rank stops after the same step, and rotarun
// exits with 143.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include "testing/paths.h"
#include "testing/process.h"
#include "training/stopped.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Process;
using testing::Result;

const std::string kRanks = testing::test_path("training_stop_ranks");

testing::Command ranks(const std::string& mode,
                       std::vector<std::string> options = {"--oversubscribe", "-np", "3"}) {
  options.insert(options.end(), {kRanks, mode});
  return testing::rotarun(std::move(options));
}

void expect_agreement(const Result& result, std::size_t world_size,
                      const std::string& signal = "SIGTERM", int code = 143) {
  EXPECT_EQ(result.exit_code, code) << result.err;
  EXPECT_EQ(result.err,
            "rotarun: got " + signal + ", so the job ends after a step that the ranks agree on\n");
  const auto words = testing::last_words_in(result.out, world_size);
  EXPECT_TRUE(words.front().early) << result.out;
  EXPECT_THAT(words, Each(words.front())) << result.out;
}

struct StopCase {
  const char* mode;
  const char* transport;
  std::size_t world_size;
};

class Stop : public ::testing::TestWithParam<StopCase> {};

// Method: SIGTERM comes at a random moment: in a computation, a collective or an evaluation, or
// between two of them.
TEST_P(Stop, IsAfterTheSameStepOnEveryRank) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> delay(0, 50'000);
  int agreed_count = 0;
  for (int trial = 0; trial < 20; ++trial) {
    Process process(ranks(GetParam().mode,
                          {"--oversubscribe", "-np", "3", "--transport", GetParam().transport}));
    ASSERT_TRUE(process.wait_for("ready\n")) << process.err();
    std::this_thread::sleep_for(microseconds(delay(random)));
    process.signal(SIGTERM);
    const Result result = process.wait();
    // Between two training runs, no rank takes part in an agreement.
    if (result.err == "rotarun: got SIGTERM, so the job ends\n") continue;
    expect_agreement(result, GetParam().world_size);
    ++agreed_count;
  }
  EXPECT_GE(agreed_count, GetParam().mode == std::string("again") ? 10 : 20);
}

INSTANTIATE_TEST_SUITE_P(Programs, Stop,
                         ::testing::Values(StopCase{"once", "shm", 3}, StopCase{"once", "tcp", 3},
                                           StopCase{"again", "shm", 3}, StopCase{"loop", "shm", 3},
                                           StopCase{"threads", "shm", 6}),
                         [](const auto& test) {
                           return std::string(test.param.mode) + "_" + test.param.transport;
                         });

// The epoch has three steps. All of them are done, and the evaluation would last for minutes.
TEST(StopOfATraining, LeavesAnEvaluation) {
  for (const char* transport : {"shm", "tcp"}) {
    Process process(ranks("test", {"--oversubscribe", "-np", "3", "--transport", transport}));
    ASSERT_TRUE(process.wait_for("ready\n")) << process.err();
    std::this_thread::sleep_for(milliseconds(20));
    process.signal(SIGTERM);
    const Result result = process.wait();
    expect_agreement(result, 3);
    EXPECT_EQ(testing::last_words_in(result.out, 3).front().steps, 3u) << result.out;
  }
}

TEST(StopOfATraining, LetsHooksSaveWhatWasLearnt) {
  Process process(ranks("once"));
  ASSERT_TRUE(process.wait_for("ready\n"));
  process.signal(SIGTERM);
  const Result result = process.wait();
  expect_agreement(result, 3);
  // The other ranks may end while rank 0 saves.
  EXPECT_THAT(result.out, ContainsRegex("saving\n(stopped [^\n]*\n)*saved\n"));
}

// Method: rank 0 saves after the last step. The other ranks wait for rank 0 in a barrier, or have
// ended already.
TEST(StopOfATraining, LeavesATrainingThatIsOverAlone) {
  Process process(ranks("short"));
  ASSERT_TRUE(process.wait_for("saving\n"));
  process.signal(SIGTERM);
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 143);
  EXPECT_THAT(result.out, HasSubstr("saved\n"));
  EXPECT_THAT(testing::last_words_in(result.out, 3),
              Each(testing::last_words_in(result.out, 3).front()));
  EXPECT_FALSE(testing::last_words_in(result.out, 3).front().early);
}

TEST(StopOfASession, SavesTheAgreedStepAndGoesOnToTheSameWeights) {
  const testing::TemporaryFolder folder;
  const auto command = [&](const std::string& name) {
    return testing::rotarun(
        {"--oversubscribe", "-np", "3", kRanks, "session", (folder.path() / name).string(), "300"});
  };
  Process process(command("stopped"));
  ASSERT_TRUE(process.wait_for("ready\n")) << process.err();
  process.signal(SIGTERM);
  const Result result = process.wait();
  expect_agreement(result, 3);
  const std::string step = std::to_string(testing::last_words_in(result.out, 3).front().steps);
  const std::string name = std::string(12 - step.size(), '0') + step;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "stopped" / name)) << name;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "stopped" / "ended.json"));

  const Result resumed = testing::run(command("stopped"));
  const Result undisturbed = testing::run(command("undisturbed"));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(testing::last_words_in(undisturbed.out, 3).front().steps, 300U) << undisturbed.err;
  EXPECT_EQ(testing::last_words_in(resumed.out, 3), testing::last_words_in(undisturbed.out, 3));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "stopped" / "ended.json"));
}

// Before the first step, there is nothing to agree on, and nothing to save. The wait is longer than
// the grace of a rank.
TEST(StopOfASession, ComesAtOnceWhileItWaitsForAnotherJob) {
  const testing::TemporaryFolder folder;
  const auto command = testing::rotarun({"--oversubscribe", "-np", "2", kRanks, "session",
                                         (folder.path() / "run").string(), "1000000000"});
  Process first(command);
  ASSERT_TRUE(first.wait_for("ready\n")) << first.err();
  Process second(command);
  ASSERT_TRUE(second.wait_for("this job waits up to 60 s for it to end\n")) << second.err();
  second.signal(SIGTERM);
  const Result result = second.wait();
  EXPECT_EQ(result.exit_code, 143) << result.err;
  EXPECT_THAT(result.err, HasSubstr("rotarun: got SIGTERM, so the job ends\n"));
  first.signal(SIGTERM);
  expect_agreement(first.wait(), 2);
}

TEST(StopOfATraining, EndsByForceWhereARankDoesNotAnswer) {
  Process process(ranks("stuck", {"--oversubscribe", "-np", "3", "--grace", "0.5"}));
  ASSERT_TRUE(process.wait_for("ready\n"));
  std::this_thread::sleep_for(milliseconds(200));
  process.signal(SIGTERM);
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 143);
  EXPECT_THAT(result.err,
              HasSubstr("killed the processes that had not ended: rank 0, rank 1, rank 2\n"));
}

TEST(StopOfATraining, EndsAtOnceWhenItIsAskedForAgain) {
  Process process(ranks("stuck", {"--oversubscribe", "-np", "3", "--grace", "100"}));
  ASSERT_TRUE(process.wait_for("ready\n"));
  std::this_thread::sleep_for(milliseconds(200));
  process.signal(SIGTERM);
  std::this_thread::sleep_for(milliseconds(1100));
  process.signal(SIGTERM);
  const Result result = process.wait(seconds(50));
  EXPECT_TRUE(result.was_in_time);
  EXPECT_EQ(result.exit_code, 143);
}

TEST(StopOfATraining, WakesARankThatIsSuspended) {
  Process process(ranks("once"));
  ASSERT_TRUE(process.wait_for("ready\n"));
  pid_t suspended = 0;
  for (const pid_t pid : testing::live_descendants()) suspended = std::max(suspended, pid);
  ::kill(suspended, SIGSTOP);
  process.signal(SIGTERM);
  expect_agreement(process.wait(), 3);
}

TEST(StopOfATraining, IsNotForOtherSignals) {
  Process process(ranks("once"));
  ASSERT_TRUE(process.wait_for("ready\n"));
  process.signal(SIGINT);
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_EQ(result.err, "rotarun: got SIGINT, so the job ends\n");
  EXPECT_THAT(result.out, Not(HasSubstr("stopped")));
}

// A batch system may warn a job by one of these signals before its time is over.
TEST(StopOfATraining, MayBeForAnotherSignal) {
  Process process(ranks("once", {"--oversubscribe", "-np", "3", "--stop-signal", "USR1"}));
  ASSERT_TRUE(process.wait_for("ready\n"));
  process.signal(SIGUSR1);
  expect_agreement(process.wait(), 3, "SIGUSR1", 128 + SIGUSR1);
}

TEST(StopOfATraining, NeedsNoSecondRank) {
  Process process(ranks("once", {"-np", "1"}));
  ASSERT_TRUE(process.wait_for("ready\n"));
  process.signal(SIGTERM);
  expect_agreement(process.wait(), 1);
}

}  // namespace
}  // namespace rota
