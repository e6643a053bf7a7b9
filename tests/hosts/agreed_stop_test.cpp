// SIGTERM to the rotarun of one host stops a training run on all hosts after the same step.
#include <signal.h>

#include <random>
#include <thread>

#include "hosts/across_hosts.h"
#include "training/stopped.h"

namespace rota::testing {
namespace {

using ::testing::Each;

class AgreedStop : public AcrossHosts {
 protected:
  void SetUp() override {
    AcrossHosts::SetUp();
    if (network_) environment_ = {"ROTA_HOSTS=" + hosts({1, 3, 2})};
  }

  std::vector<std::unique_ptr<Process>> start_training(const std::string& mode) const {
    return start_all({test_path("training_stop_ranks"), mode});
  }

  // Expects that every rank on every host reports the same step.
  static void expect_agreement(const std::vector<std::unique_ptr<Process>>& all,
                               const std::string& who, const std::string& signal = "SIGTERM",
                               int code = 143) {
    std::string out;
    for (const auto& host : all) {
      const Result result = host->wait();
      EXPECT_EQ(result.exit_code, code) << result.err;
      EXPECT_EQ(result.err, "rotarun: " + who + "got " + signal +
                                ", so the job ends after a step that the ranks agree on\n");
      out += result.out;
    }
    const auto words = last_words_in(out, 6);
    EXPECT_TRUE(words.front().early) << out;
    EXPECT_THAT(words, Each(words.front())) << out;
  }
};

TEST_F(AgreedStop, IsAfterTheSameStepWhicheverHostIsAsked) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> delay(0, 50);
  for (std::size_t trial = 0; trial < 9; ++trial) {
    const std::size_t asked = trial % 3;
    const auto all = start_training(trial % 2 == 0 ? "once" : "loop");
    ASSERT_TRUE(all[0]->wait_for("ready\n")) << all[0]->err();
    std::this_thread::sleep_for(std::chrono::milliseconds(delay(random)));
    all[asked]->signal(SIGTERM);
    const std::string address = network_->address(asked);
    expect_agreement(all,
                     asked == 0 ? "" : "host " + std::to_string(asked) + " (" + address + ") ");
  }
}

TEST_F(AgreedStop, MayBeForAnotherSignal) {
  const auto all = start_all({"--stop-signal", "USR2", test_path("training_stop_ranks"), "once"});
  ASSERT_TRUE(all[0]->wait_for("ready\n")) << all[0]->err();
  all[1]->signal(SIGUSR2);
  expect_agreement(all, "host 1 (" + network_->address(1) + ") ", "SIGUSR2", 128 + SIGUSR2);
}

// A cluster that deletes a job sends SIGTERM to all of its hosts.
TEST_F(AgreedStop, IsOneWhenAllHostsAreAskedAtOnce) {
  const auto all = start_training("threads");
  ASSERT_TRUE(all[0]->wait_for("ready\n"));
  for (const auto& host : all) host->signal(SIGTERM);
  std::string out;
  for (const auto& host : all) {
    const Result result = host->wait();
    EXPECT_EQ(result.exit_code, 143) << result.err;
    out += result.out;
  }
  const auto words = last_words_in(out, 12);
  EXPECT_TRUE(words.front().early) << out;
  EXPECT_THAT(words, Each(words.front())) << out;
}

TEST_F(AgreedStop, IsNotForRanksThatDoNotTrain) {
  const auto all = start_all(
      {"/bin/sh", "-c",
       "trap 'echo trapped; exit 0' TERM; echo ready; while :; do sleep 60 & wait; done"});
  for (const auto& host : all) ASSERT_TRUE(host->wait_for("ready\n"));
  all[2]->signal(SIGTERM);
  for (const auto& host : all) {
    const Result result = host->wait();
    EXPECT_EQ(result.exit_code, 143) << result.err;
    EXPECT_THAT(result.out, HasSubstr("trapped\n"));
    EXPECT_THAT(result.err, HasSubstr("got SIGTERM, so the job ends\n"));
  }
}

}  // namespace
}  // namespace rota::testing
