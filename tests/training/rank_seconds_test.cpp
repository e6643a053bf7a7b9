// How the ranks of a training run spend their time, as hooks are told.
#include <rota/rank_seconds.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include <rota/trainer.h>

#include "testing/error_of.h"
#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using ::testing::ElementsAre;
using Reported = std::map<std::uint64_t, std::vector<RankSeconds>>;  // By step.

TEST(RankSecondsCounter, GivesMeansOfSteps) {
  RankSecondsCounter counter;
  counter.enter({.in_all = 100, .wait = 10, .checkpoint = 1});
  counter.add_step();
  counter.add_step();
  const RankSeconds two = counter.take({.in_all = 108, .wait = 12, .checkpoint = 2});
  EXPECT_EQ(two.compute, 2.5);
  EXPECT_EQ(two.wait, 1);
  EXPECT_EQ(two.checkpoint, 0.5);
  EXPECT_EQ(counter.steps(), 0u);
  counter.add_step();
  const RankSeconds one = counter.take({.in_all = 111, .wait = 13, .checkpoint = 2});
  EXPECT_EQ(one.compute, 2);
  EXPECT_EQ(one.wait, 1);
  EXPECT_EQ(one.checkpoint, 0);
}

TEST(RankSecondsCounter, LeavesOutWhatIsBetweenEpochs) {
  RankSecondsCounter counter;
  counter.enter({});
  counter.add_step();
  counter.leave({.in_all = 3, .wait = 1, .checkpoint = 1});
  counter.enter({.in_all = 50, .wait = 20, .checkpoint = 10});
  counter.add_step();
  const RankSeconds seconds = counter.take({.in_all = 55, .wait = 22, .checkpoint = 11});
  EXPECT_EQ(seconds.compute, (1 + 2) / 2.0);
  EXPECT_EQ(seconds.wait, (1 + 2) / 2.0);
  EXPECT_EQ(seconds.checkpoint, (1 + 1) / 2.0);
}

TEST(RankSecondsCounter, NeverHasLessThanNoTime) {
  RankSecondsCounter counter;
  counter.enter({});
  counter.add_step();
  EXPECT_EQ(counter.take({.in_all = 1, .wait = 0.75, .checkpoint = 0.5}).compute, 0);
}

// Asks for the seconds, and keeps them.
class SecondsReader : public TrainingHook {
 public:
  explicit SecondsReader(std::uint64_t every) : every_(every) {}
  void on_begin(const BeginReport&) override {
    if (every_ > 0) ask_for_rank_seconds(every_);
  }
  void on_step(const StepReport& report) override {
    if (report.rank_seconds.empty()) return;
    reported[report.steps] = {report.rank_seconds.begin(), report.rank_seconds.end()};
  }
  Reported reported;

 private:
  std::uint64_t every_;
};

std::vector<std::uint64_t> steps_with(const Reported& reported) {
  std::vector<std::uint64_t> steps;
  for (const auto& [step, seconds] : reported) steps.push_back(step);
  return steps;
}

// Makes training wait for 15 ms in each step, and for long between epochs.
class SlowSession : public TrainingSession {
 public:
  explicit SlowSession(bool is_slow) : seconds_(is_slow ? 0.015 : 0) {}
  BeginReport begin(const StateVisit&) override { return {}; }
  void begin_step(std::uint64_t) override { stalled_seconds_ += seconds_; }
  void end_step(std::uint64_t, const TrainingWishes&) override {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds_));
  }
  void between_epochs(std::uint64_t, const TrainingWishes&) override { stalled_seconds_ += 100; }
  double stalled_seconds() const noexcept override { return stalled_seconds_; }
  std::optional<CheckpointReport> finished() override { return std::nullopt; }
  void end(std::uint64_t) override {}
  void fail(const std::string&) noexcept override {}
  void before_update(std::size_t) override {}
  void before_send(std::size_t) override {}

 private:
  double seconds_;
  double stalled_seconds_ = 0;
};

// Three ranks take 2 epochs of 6 steps. Each batch of rank 1 takes 20 ms. With
// checkpoints, rank 2 waits for them.
Reported reported_by(std::initializer_list<std::uint64_t> wishes, bool has_checkpoints = false) {
  const Dataset data = testing::small_dataset(36);
  Reported reported;
  testing::on_every_rank(3, [&](Communicator& communicator) {
    Model<float> model({6, 6, 1}, {dense(4)});
    auto train = samples_of(data, model, 2, "training");
    auto test = samples_of(data, model, 2, "test");
    train.gather = [&communicator, gather = train.gather](const SampleRun& run) {
      if (communicator.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return gather(run);
    };
    Trainer<float> trainer(communicator, std::move(model), train, test,
                           {.epochs = 2, .batch_size = 2});
    std::vector<SecondsReader> readers;
    for (const std::uint64_t every : wishes) readers.emplace_back(every);
    for (SecondsReader& reader : readers) trainer.add_chief_hook(reader);
    SlowSession session(communicator.rank() == 2);
    if (has_checkpoints) trainer.set_session(session);
    trainer.run();
    if (communicator.rank() == 0) reported = readers.front().reported;
  });
  return reported;
}

TEST(RankSeconds, ComeOnlyToAHookThatAsksForThem) {
  EXPECT_TRUE(reported_by({0}).empty());
  EXPECT_THAT(steps_with(reported_by({5})), ElementsAre(5, 10));
  EXPECT_THAT(steps_with(reported_by({6, 4, 8})), ElementsAre(4, 8, 12));
  // Before the first step there is nothing to report.
  EXPECT_EQ(steps_with(reported_by({1})).front(), 2u);
}

TEST(RankSeconds, ShowWhoIsSlowAndWhoWaits) {
  for (const auto& [step, ranks] : reported_by({4})) {
    ASSERT_EQ(ranks.size(), 3u);
    EXPECT_GE(ranks[1].compute, 0.02) << "step " << step;
    for (const std::size_t quick : {0, 2}) {
      EXPECT_GT(ranks[quick].wait, ranks[1].wait) << "step " << step;
      EXPECT_GE(ranks[quick].compute + ranks[quick].wait, 0.015) << "step " << step;
      EXPECT_EQ(ranks[quick].checkpoint, 0);
    }
  }
}

// From step 4 to step 8, an epoch ends.
TEST(RankSeconds, HaveTheTimeForCheckpointsOfEachRank) {
  const Reported reported = reported_by({4}, true);
  EXPECT_THAT(steps_with(reported), ElementsAre(4, 8, 12));
  const auto& ranks = reported.at(8);
  EXPECT_EQ(ranks[0].checkpoint, 0);
  EXPECT_EQ(ranks[1].checkpoint, 0);
  EXPECT_NEAR(ranks[2].checkpoint, 0.015, 1e-9) << "what is between epochs does not count";
}

// The checkpoint of each step is written before the next step begins.
TEST(RankSeconds, CountTheTimeOfASaveThatTrainingWaitsFor) {
  const testing::TemporaryFolder folder;
  const Dataset data = testing::small_dataset(20);
  Communicator alone{CommunicatorOptions{}};
  TrainerOptions options;
  options.batch_size = 2;
  options.session.checkpoints = {
      .folder = folder.path() / "run", .every_steps = 1, .asynchronous = false};
  Trainer<float> trainer(alone, Model<float>({6, 6, 1}, {dense(4)}), data, data, options);
  class Stalls : public SecondsReader {
   public:
    Stalls() : SecondsReader(5) {}
    void on_checkpoint(const CheckpointReport& report) override {
      if (report.step < 5) stall += static_cast<double>(report.stall_us) * 1e-6;
    }
    double stall = 0;
  };
  Stalls hook;
  trainer.add_hook(hook);
  trainer.run();
  ASSERT_TRUE(hook.reported.contains(5));
  EXPECT_GT(hook.stall, 0);
  EXPECT_GE(hook.reported[5][0].checkpoint, hook.stall / 4);
  EXPECT_LT(hook.reported[5][0].checkpoint, hook.stall / 4 + 0.1);
}

TEST(RankSeconds, CannotBeAskedForEveryZeroSteps) {
  class Asker : public TrainingHook {
   public:
    void on_begin(const BeginReport&) override { ask_for_rank_seconds(0); }
  };
  const Dataset data = testing::small_dataset(20);
  Communicator alone{CommunicatorOptions{}};
  Trainer<float> trainer(alone, Model<float>({6, 6, 1}, {dense(4)}), data, data, {.batch_size = 2});
  Asker asker;
  trainer.add_hook(asker);
  const auto error = testing::error_of([&] { trainer.run(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace rota
