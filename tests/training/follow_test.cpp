// EarlyStopping and KeepBest that follow an evaluator. Method: a hook of the test adds the lines
// that an evaluator would add, and slows the run down, because files are read once in a second.
#include <rota/hooks.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include <rota/trainer.h>

#include "checkpoint/evaluations.h"
#include "testing/error_of.h"
#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::on_every_rank;
using testing::small_dataset;
using testing::TemporaryFolder;

const Dataset kFollowing = small_dataset(60);

// After a step, adds the evaluations of this map: step → (evaluated step, loss).
class Evaluations : public TrainingHook {
 public:
  Evaluations(fs::path path, std::map<std::uint64_t, std::pair<std::uint64_t, double>> losses)
      : path_(std::move(path)), losses_(std::move(losses)) {}
  void on_begin(const BeginReport& report) override { run_ = report.run; }
  void on_step(const StepReport& report) override {
    const auto found = losses_.find(report.steps);
    if (found == losses_.end()) return;
    const auto& [step, loss] = found->second;
    std::ofstream(path_, std::ios::app) << checkpoint::encode(
        {.run = run_, .step = step, .samples = 10, .sums = {10 * loss, 5}}, {});
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  }

 private:
  fs::path path_;
  std::map<std::uint64_t, std::pair<std::uint64_t, double>> losses_;
  std::string run_;
};

class Following : public ::testing::Test {
 protected:
  Following() { fs::create_directories(run()); }
  fs::path run() const { return folder_.path() / "run"; }
  fs::path evaluations() const { return run() / "evaluations.jsonl"; }
  bool has_checkpoint(const std::string& step) const {
    return fs::exists(run() / (std::string(12 - step.size(), '0') + step));
  }

  // Trains with `hook`, and `second` if it is there, on rank 0 alone, 3 steps in an epoch.
  EndReport train(TrainingHook& hook, TrainingHook& evaluator, std::size_t epochs,
                  TrainingHook* second = nullptr) {
    EndReport end;
    on_every_rank(2, [&](Communicator& communicator) {
      TrainerOptions options;
      options.epochs = epochs;
      options.batch_size = 10;
      options.session.checkpoints = {.folder = run(), .every_steps = 2, .keep = 2};
      options.session.checkpoints.asynchronous = false;
      Trainer<float> trainer(communicator, Model<float>({6, 6, 1}, {dense(4)}), kFollowing,
                             kFollowing, options);
      trainer.add_chief_hook(evaluator);
      trainer.add_chief_hook(hook);
      if (second != nullptr) trainer.add_chief_hook(*second);
      const EndReport mine = trainer.run();
      if (communicator.rank() == 0) end = mine;
    });
    return end;
  }

  TemporaryFolder folder_;
};

TEST_F(Following, StopsWhenTheEvaluatorSeesNothingBetter) {
  EarlyStopping early({.patience = 2, .follows = evaluations()});
  Evaluations evaluator(evaluations(), {{2, {2, 1}}, {4, {4, 0.5}}, {6, {6, 0.6}}, {8, {8, 0.7}}});
  const EndReport end = train(early, evaluator, 10);
  EXPECT_TRUE(end.stopped);
  EXPECT_EQ(end.steps, 9U) << "it asks in step 8, and all ranks stop after the next";
  EXPECT_EQ(end.stop_reason, "no evaluation was better than the best one for 2 checkpoints");
  EXPECT_TRUE(fs::exists(run() / "ended.json")) << "a hook has ended the run";

  EarlyStopping again({.patience = 2, .follows = evaluations()});
  Evaluations silent(evaluations(), {});
  EXPECT_EQ(train(again, silent, 10).steps, 9U) << "it remembers what it has read";
}

// The Trainer's own evaluations do not count, nor do those of another run.
TEST_F(Following, IgnoresEvaluationsOfOthers) {
  const std::string other(32, 'a');
  for (std::uint64_t step = 1; step < 9; ++step) {
    std::ofstream(evaluations(), std::ios::app)
        << checkpoint::encode({.run = other, .step = step, .samples = 10, .sums = {10, 5}}, {});
  }
  EarlyStopping early({.patience = 1, .min_delta = 1000, .follows = evaluations()});
  Evaluations evaluator(evaluations(), {{2, {2, 1}}});
  EXPECT_FALSE(train(early, evaluator, 4).stopped);
}

TEST_F(Following, KeepsTheCheckpointThatTheEvaluatorFindsBest) {
  KeepBest best({.follows = evaluations()});
  Evaluations evaluator(evaluations(), {{2, {2, 1}}, {5, {4, 0.5}}, {7, {6, 0.6}}});
  const EndReport end = train(best, evaluator, 4);
  EXPECT_EQ(end.steps, 12U);
  EXPECT_TRUE(has_checkpoint("4")) << "the best";
  EXPECT_FALSE(has_checkpoint("2"));
  EXPECT_FALSE(has_checkpoint("6"));
  EXPECT_TRUE(has_checkpoint("10"));
  EXPECT_TRUE(has_checkpoint("12"));

  KeepBest again({.follows = evaluations()});
  Evaluations silent(evaluations(), {});
  train(again, silent, 6);
  EXPECT_TRUE(has_checkpoint("4")) << "a resumed run still keeps it";
  EXPECT_FALSE(has_checkpoint("10"));
}

// One hook keeps the checkpoint of the smallest loss, and the other one that of the largest.
TEST_F(Following, KeepsACheckpointForEachOfTwoHooks) {
  KeepBest smallest({.name = "smallest", .follows = evaluations()});
  KeepBest largest({.watched = {.rises = true}, .name = "largest", .follows = evaluations()});
  Evaluations evaluator(evaluations(), {{2, {2, 5}}, {5, {4, 0.5}}, {7, {6, 0.6}}});
  train(smallest, evaluator, 4, &largest);
  EXPECT_TRUE(has_checkpoint("2"));
  EXPECT_TRUE(has_checkpoint("4"));
  EXPECT_FALSE(has_checkpoint("6"));
}

// The run begins anew although its evaluations name later checkpoints: it has gone back. Such a
// checkpoint is set aside, so its score must not hide those of checkpoints that the run has.
TEST_F(Following, PassesOverEvaluationsOfCheckpointsThatTheRunHasNotReached) {
  KeepBest best({.follows = evaluations()});
  Evaluations evaluator(evaluations(), {{2, {20, 0.1}}, {5, {4, 0.5}}, {7, {6, 0.6}}});
  train(best, evaluator, 4);
  EXPECT_TRUE(has_checkpoint("4")) << "the best of those that the run has";
  EXPECT_FALSE(has_checkpoint("6"));

  fs::remove_all(run());
  fs::create_directories(run());
  EarlyStopping early({.patience = 1, .follows = evaluations()});
  Evaluations other(evaluations(), {{2, {20, 0.1}}, {4, {4, 0.5}}});
  EXPECT_FALSE(train(early, other, 3).stopped);
}

// Here the hook follows the evaluations of the Trainer itself.
TEST_F(Following, KeepsTheBestOfTheTrainerAfterAResume) {
  KeepBest best({.watched = {.sum = 1, .rises = true}});
  Evaluations silent(evaluations(), {});
  train(best, silent, 1);
  class Never : public KeepBest {
   public:
    void on_evaluation(const EvaluationReport&) override {}
  } again;
  train(again, silent, 4);
  EXPECT_TRUE(has_checkpoint("3"));
}

TEST_F(Following, NeedsCheckpoints) {
  Communicator alone{CommunicatorOptions{}};
  Trainer<float> trainer(alone, Model<float>({6, 6, 1}, {dense(4)}), kFollowing, kFollowing,
                         {.batch_size = 10});
  EarlyStopping early({.follows = evaluations()});
  trainer.add_hook(early);
  const auto error = testing::error_of([&] { trainer.run(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error->what(), HasSubstr("without checkpoints"));
}

}  // namespace
}  // namespace rota
