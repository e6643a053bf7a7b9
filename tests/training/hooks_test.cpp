// The hooks that rota ships. Method: some tests tell a hook of evaluations that they make up, and
// others run a real training run.
#include <rota/hooks.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <rota/trainer.h>

#include "training/thread_ranks.h"

namespace rota {
namespace {

using testing::on_every_rank;
using testing::small_dataset;

const Dataset kHooked = small_dataset(57);  // 3 steps per epoch on two ranks with batches of 10.
const Dataset kHookedTest = small_dataset(12);

TrainerOptions options_with_hooks() {
  TrainerOptions options;
  options.epochs = 4;
  options.batch_size = 10;
  options.optimizer = Sgd{.learning_rate = 0.1};
  return options;
}

// Records which checkpoints are the best so far.
class Marked : public TrainingSession {
 public:
  BeginReport begin(const StateVisit&) override { return {}; }
  void begin_step(std::uint64_t) override {}
  void end_step(std::uint64_t, const TrainingWishes&) override {}
  void between_epochs(std::uint64_t step, const TrainingWishes& agreed) override {
    EXPECT_EQ(agreed.best, agreed.checkpoint);
    if (agreed.best) best.push_back(step);
  }
  std::optional<CheckpointReport> finished() override { return std::nullopt; }
  void end(std::uint64_t) override {}
  void fail(const std::string&) noexcept override {}
  void before_update(std::size_t) override {}
  void before_send(std::size_t) override {}
  std::vector<std::uint64_t> best;
};

// Runs two ranks, with `hook` as the chief's hook. If `states` is not empty, the ranks go on from
// these states. Afterwards `states` has the states at the end.
std::vector<EndReport> ends_with(TrainingHook& hook, std::vector<State>* states = nullptr,
                                 Marked* chiefs_session = nullptr) {
  std::vector<EndReport> ends(2);
  std::vector<State> ended(2);
  on_every_rank(2, [&](Communicator& communicator) {
    const std::size_t rank = communicator.rank();
    Trainer<float> trainer(communicator, Model<float>({6, 6, 1}, {dense(4)}), kHooked, kHookedTest,
                           options_with_hooks());
    Marked session;
    trainer.set_session(rank == 0 && chiefs_session != nullptr ? *chiefs_session : session);
    trainer.add_chief_hook(hook);
    if (states != nullptr && !states->empty()) trainer.give_state((*states)[rank]);
    ends[rank] = trainer.run();
    ended[rank] = trainer.state();
  });
  if (states != nullptr) *states = ended;
  EXPECT_EQ(ends[0].stop_reason, ends[1].stop_reason);
  EXPECT_EQ(ends[0].weights_hash, ends[1].weights_hash);
  return ends;
}

// Steps of an epoch have 20, 20 and 17 samples.
TEST(StopAfter, EndsAfterSoManyStepsOrSamples) {
  struct Case {
    StopAfterOptions options;
    std::size_t steps;
  };
  const Case cases[] = {
      {{.steps = 1}, 1},    {{.steps = 3}, 3},    {{.steps = 4}, 4},
      {{.samples = 7}, 1},  {{.samples = 20}, 1}, {{.samples = 21}, 2},
      {{.samples = 40}, 2}, {{.samples = 41}, 3}, {{.samples = 57}, 3},
      {{.samples = 77}, 4}, {{.samples = 97}, 5}, {{.steps = 5, .samples = 58}, 4}};
  for (const Case& each : cases) {
    StopAfter stop(each.options);
    const EndReport end = ends_with(stop).front();
    EXPECT_EQ(end.steps, each.steps) << each.options.steps << " " << each.options.samples;
    EXPECT_TRUE(end.stopped);
    EXPECT_THAT(end.stop_reason, ::testing::HasSubstr(" are done"));
  }
}

// A state does not have what the hook has asked for, so the hook must ask again when it begins.
TEST(StopAfter, EndsAResumedRunAfterTheSameStep) {
  struct Case {
    std::uint64_t first_steps;
    std::uint64_t samples;
    std::size_t steps;
  };
  for (const Case& each : {Case{1, 30, 2}, {1, 40, 2}, {2, 50, 3}, {3, 60, 4}, {3, 78, 5}}) {
    StopAfter first({.steps = each.first_steps});
    std::vector<State> states;
    ends_with(first, &states);
    StopAfter second({.samples = each.samples});
    EXPECT_EQ(ends_with(second, &states).front().steps, each.steps) << each.samples << " samples";
  }
}

TEST(StopAfter, TakesNoFurtherStepWhenItIsDoneAlready) {
  for (const StopAfterOptions& options :
       {StopAfterOptions{.steps = 5}, {.samples = 97}, {.seconds = 1e-9}}) {
    StopAfter stop(options);
    std::vector<State> states;
    const EndReport first = ends_with(stop, &states).front();
    StopAfter again(options);
    const EndReport second = ends_with(again, &states).front();
    EXPECT_EQ(second.steps, first.steps);
    EXPECT_EQ(second.weights_hash, first.weights_hash);
    EXPECT_TRUE(second.stopped);
  }
}

TEST(StopAfter, CountsSecondsOfTraining) {
  StopAfter stop({.seconds = 1e-9});
  const EndReport end = ends_with(stop).front();
  EXPECT_EQ(end.steps, 2u) << "the first step took longer";
  EXPECT_EQ(end.stop_reason, "the time for training is over");
}

// A hook that a test tells of evaluations.
class Told : public EarlyStopping {
 public:
  explicit Told(const EarlyStoppingOptions& options) : EarlyStopping(options) {}
  void evaluate(double loss, std::size_t correct = 0) {
    on_evaluation({.score = {.loss = 10 * loss, .correct = correct, .samples = 10}});
  }
};

std::uint64_t since_in(TrainingHook& hook) {
  const State state = copy_state([&](StateVisitor& visitor) { hook.visit_state(visitor); });
  std::uint64_t since = 0;
  std::memcpy(&since, state.items.at(0).bytes.data(), sizeof since);
  return since;
}

TEST(EarlyStopping, CountsEvaluationsThatAreNotBetter) {
  Told hook({.min_delta = 0.1});
  hook.evaluate(1);
  EXPECT_EQ(since_in(hook), 0u);
  hook.evaluate(0.95);
  EXPECT_EQ(since_in(hook), 1u) << "a change of 0.05 is too small";
  hook.evaluate(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(since_in(hook), 2u);
  hook.evaluate(-std::numeric_limits<double>::infinity());
  EXPECT_EQ(since_in(hook), 3u);
  hook.evaluate(0.8);
  EXPECT_EQ(since_in(hook), 0u);
}

TEST(EarlyStopping, CanWatchWhatRises) {
  Told hook({.watched = Watched::accuracy()});
  hook.evaluate(1, 5);
  hook.evaluate(2, 6);
  EXPECT_EQ(since_in(hook), 0u);
  hook.evaluate(0.5, 6);
  EXPECT_EQ(since_in(hook), 1u);
}

// No evaluation is better than another by 1000.
TEST(EarlyStopping, EndsRightAfterTheEvaluation) {
  EarlyStopping hook({.patience = 2, .min_delta = 1000});
  std::vector<State> states;
  const EndReport end = ends_with(hook, &states).front();
  EXPECT_TRUE(end.stopped);
  EXPECT_EQ(end.steps, 9u) << "the first evaluation is the best, and two follow";
  EXPECT_EQ(end.stop_reason, "no evaluation was better than the best one for 2 epochs");
  EarlyStopping again({.patience = 2, .min_delta = 1000});
  EXPECT_EQ(ends_with(again, &states).front().steps, 9u) << "a training run that was over";
}

TEST(EarlyStopping, ForgetsTheRunBefore) {
  EarlyStopping hook({.patience = 2, .min_delta = 1000});
  EXPECT_EQ(ends_with(hook).front().steps, 9u);
  EXPECT_EQ(ends_with(hook).front().steps, 9u);
}

TEST(ReduceOnPlateau, LowersTheRateOnce) {
  ReduceOnPlateau hook({.factor = 0.5, .patience = 2, .min_delta = 1000});
  std::vector<State> states;
  ends_with(hook, &states);
  for (const State& state : states) {
    const auto item =
        std::ranges::find(state.items, "place/learning rate factor", &StateItem::name);
    ASSERT_NE(item, state.items.end());
    double factor = 0;
    std::memcpy(&factor, item->bytes.data(), sizeof factor);
    EXPECT_EQ(factor, 0.5) << "after 3 of 4 evaluations";
  }
}

TEST(KeepBest, MarksTheStepsOfTheBestEvaluations) {
  class Losses : public KeepBest {
   public:
    void on_evaluation(const EvaluationReport& report) override {
      KeepBest::on_evaluation(report);
      if (best.empty() || report.score.loss < best.back()) {
        best.push_back(report.score.loss);
        steps.push_back(report.steps);
      }
    }
    std::vector<double> best;
    std::vector<std::uint64_t> steps;
  };
  Losses hook;
  Marked session;
  ends_with(hook, nullptr, &session);
  EXPECT_GE(session.best.size(), 2u);
  EXPECT_EQ(session.best, hook.steps);
}

TEST(Hooks, RefuseOptionsThatMakeNoSense) {
  const auto refusal_of = [](const auto& make) -> std::string {
    try {
      make();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal_of([] { EarlyStopping({.patience = 0}); }), "patience 0: expected 1 or more");
  EXPECT_EQ(refusal_of([] { EarlyStopping({.min_delta = -1}); }),
            "min_delta -1: expected a finite number that is not negative");
  EXPECT_EQ(refusal_of([] { KeepBest({.watched = {.sum = 2}}); }),
            "watched sum 2: expected less than 2");
  EXPECT_EQ(refusal_of([] { ReduceOnPlateau({.factor = 1}); }),
            "factor 1: expected more than 0 and less than 1");
}

}  // namespace
}  // namespace rota
