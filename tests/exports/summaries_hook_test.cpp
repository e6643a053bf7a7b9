// The curves of a training run: their points, even if the run was interrupted. Method: a Trainer
// trains, and the tests read the files.
#include <rota/summaries_hook.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <rota/trainer.h>

#include "exports/read_events.h"
#include "exports/watching.h"
#include "testing/error_of.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

using testing::Curve;
using testing::curve;
using testing::Interruption;
using testing::kEverySecond;
using testing::kWatchedValidation;
using testing::ScoreRecorder;
using testing::steps_of;
using testing::TemporaryFolder;
using testing::Watching;

TEST(Summaries, HaveAPointEverySoManySteps) {
  const TemporaryFolder folder;
  Summaries summaries(folder.path(), kEverySecond);
  Watching watching(summaries);
  ScoreRecorder recorder;
  watching.trainer().add_hook(recorder);
  watching.trainer().run();
  const auto train = folder.path() / "train";
  Curve costs;
  Curve accuracies;
  Curve rates;
  for (std::size_t step = 2; step <= 9; step += 2) {
    const Score both = added(recorder.steps.at(step - 2), recorder.steps.at(step - 1));
    costs.emplace_back(step, static_cast<float>(both.loss / 40));
    accuracies.emplace_back(step, static_cast<float>(both.correct) / 40);
    rates.emplace_back(step, static_cast<float>(0.1 * (1 - static_cast<double>(step - 1) / 9)));
  }
  EXPECT_EQ(curve(train, "cost"), costs);
  EXPECT_EQ(curve(train, "accuracy"), accuracies);
  const Curve learning_rates = curve(train, "learning_rate");
  ASSERT_EQ(steps_of(learning_rates), steps_of(rates));
  for (std::size_t i = 0; i < rates.size(); ++i) {
    EXPECT_FLOAT_EQ(learning_rates[i].second, rates[i].second);
  }
  const Curve speeds = curve(train, "global_step/sec");
  const Curve images = curve(train, "images/sec");
  ASSERT_EQ(steps_of(speeds), steps_of(costs));
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    EXPECT_GT(speeds[i].second, 0);
    EXPECT_NEAR(images.at(i).second / speeds[i].second, 20, 1e-3);
  }
}

TEST(Summaries, HaveAPointForEachEvaluation) {
  const TemporaryFolder folder;
  Summaries summaries(folder.path());
  Watching watching(summaries);
  ScoreRecorder recorder;
  watching.trainer().add_hook(recorder);
  watching.trainer().run();
  Curve costs;
  for (std::size_t epoch = 0; epoch < 3; ++epoch) {
    const Score& score = recorder.evaluations.at(epoch);
    costs.emplace_back(3 * epoch + 3, static_cast<float>(score.loss / 60));
  }
  EXPECT_EQ(curve(folder.path() / "test", "cost"), costs);
  EXPECT_EQ(curve(folder.path() / "test", "accuracy").size(), 3U);
}

TEST(Summaries, HaveAPointForEachEvaluationOfEachSet) {
  const TemporaryFolder folder;
  Summaries summaries(folder.path());
  Watching watching(summaries);
  watching.trainer().set_validation(kWatchedValidation);
  ScoreRecorder recorder;
  watching.trainer().add_hook(recorder);
  const EndReport end = watching.trainer().run();
  Curve costs;
  for (std::size_t epoch = 0; epoch < 3; ++epoch) {
    const Score& score = recorder.evaluations.at(epoch);
    costs.emplace_back(3 * epoch + 3, static_cast<float>(score.loss / 25));
  }
  EXPECT_EQ(curve(folder.path() / "validation", "cost"), costs);
  const Curve tests = curve(folder.path() / "test", "cost");
  ASSERT_EQ(steps_of(tests), steps_of(costs));
  EXPECT_EQ(tests.back().second, static_cast<float>(end.test.loss / 60));
}

struct Interrupted {
  std::uint64_t save;
  std::uint64_t fail;
  bool in_evaluation;
};

class InterruptedSummaries : public ::testing::TestWithParam<Interrupted> {};

TEST_P(InterruptedSummaries, HaveThePointsOfARunThatWasNot) {
  const TemporaryFolder whole;
  Summaries undisturbed(whole.path(), kEverySecond);
  Watching undisturbed_watching(undisturbed);
  undisturbed_watching.trainer().set_validation(kWatchedValidation);
  undisturbed_watching.trainer().run();

  const TemporaryFolder folder;
  Summaries first(folder.path(), kEverySecond);
  Interruption interruption(GetParam().save, GetParam().fail, GetParam().in_evaluation);
  Watching watching(first);
  interruption.trainer = &watching.trainer();
  watching.trainer().set_validation(kWatchedValidation);
  watching.trainer().add_hook(interruption);
  EXPECT_THROW(watching.trainer().run(), std::runtime_error);

  Summaries second(folder.path(), kEverySecond);
  Watching again(second);
  again.trainer().set_validation(kWatchedValidation);
  again.trainer().give_state(interruption.state);
  again.trainer().run();
  for (const char* part : {"train", "validation", "test"}) {
    for (const char* tag : {"cost", "accuracy"}) {
      const Curve expected = curve(whole.path() / part, tag);
      EXPECT_GE(expected.size(), 3U);
      EXPECT_EQ(curve(folder.path() / part, tag), expected) << part << " " << tag;
    }
  }
  EXPECT_EQ(curve(folder.path() / "train", "learning_rate"),
            curve(whole.path() / "train", "learning_rate"));
}

// Steps 3, 6 and 9 end an epoch.
INSTANTIATE_TEST_SUITE_P(Summaries, InterruptedSummaries,
                         ::testing::Values(Interrupted{1, 2, false}, Interrupted{3, 3, true},
                                           Interrupted{3, 5, false}, Interrupted{4, 6, true},
                                           Interrupted{5, 8, false}, Interrupted{9, 9, true}));

// Takes the state after step 4, and looks which points the file has then.
class StateTaker : public TrainingHook {
 public:
  explicit StateTaker(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void on_step(const StepReport& report) override {
    if (report.steps != 4) return;
    trainer->state();
    train = curve(folder_ / "train", "cost");
    test = curve(folder_ / "test", "cost");
  }
  Trainer<float>* trainer = nullptr;
  Curve train;
  Curve test;

 private:
  std::filesystem::path folder_;
};

// A process that is killed afterwards loses none of them.
TEST(Summaries, AreInTheirFilesWhenTheStateIsSaved) {
  const TemporaryFolder folder;
  Summaries summaries(folder.path(),
                      {.every_steps = 2, .writer = {.flush_interval = std::chrono::hours(1)}});
  Watching watching(summaries);
  StateTaker taker(folder.path());
  taker.trainer = &watching.trainer();
  watching.trainer().add_hook(taker);
  watching.trainer().run();
  EXPECT_EQ(steps_of(taker.train), (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(steps_of(taker.test), (std::vector<std::int64_t>{3}));
}

TEST(Summaries, OfARunThatBeginsAnewReplaceTheEarlierOnes) {
  const TemporaryFolder folder;
  Summaries summaries(folder.path(), kEverySecond);
  Watching watching(summaries);
  watching.trainer().run();
  const Curve once = curve(folder.path() / "train", "cost");
  watching.trainer().run();  // With other weights than before.
  const Curve twice = curve(folder.path() / "train", "cost");
  EXPECT_EQ(steps_of(twice), steps_of(once));
  EXPECT_NE(twice, once);
}

// Only the failure closes the files.
TEST(Summaries, AreOnTheDiskAfterAFailure) {
  const TemporaryFolder folder;
  Summaries summaries(folder.path(), {.every_steps = 1});
  Watching watching(summaries);
  Interruption interruption(0, 5, false);
  watching.trainer().add_hook(interruption);
  EXPECT_THROW(watching.trainer().run(), std::runtime_error);
  EXPECT_EQ(curve(folder.path() / "train", "cost").size(), 5U);
  EXPECT_EQ(curve(folder.path() / "test", "cost").size(), 1U);
}

TEST(Summaries, HaveNormsAndHistogramsOfTensors) {
  const TemporaryFolder folder;
  Summaries summaries(folder.path(), {.histogram_steps = 3});
  Watching watching(summaries, 1);
  const Replica<float>& replica = watching.trainer().replica();
  summaries.watch(replica);
  watching.trainer().run();
  const auto train = folder.path() / "train";
  double square_of_all = 0;
  for (const NamedTensor& tensor : replica.tensors()) {
    double square = 0;
    const auto* values = reinterpret_cast<const float*>(tensor.values.data());
    for (std::size_t i = 0; i < tensor.values.count(); ++i) square += double{values[i]} * values[i];
    square_of_all += square;
    const auto norm = static_cast<float>(std::sqrt(square));
    EXPECT_EQ(curve(train, "parameter_norm/" + tensor.name), (Curve{{3, norm}})) << tensor.name;
    EXPECT_EQ(curve(train, "parameters/" + tensor.name).size(), 1U);
    EXPECT_EQ(curve(train, "gradients/" + tensor.name).size(), 1U);
  }
  const auto norm = static_cast<float>(std::sqrt(square_of_all));
  EXPECT_EQ(curve(train, "parameter_norm"), (Curve{{3, norm}}));
  const Curve gradient_norm = curve(train, "gradient_norm");
  ASSERT_EQ(steps_of(gradient_norm), std::vector<std::int64_t>{3});
  EXPECT_GT(gradient_norm[0].second, 0);
  EXPECT_LT(gradient_norm[0].second, 1) << "the mean over 20 samples";
}

// Returns the steps of the graphs in all files of a folder. Expects that each graph names a layer.
std::vector<std::int64_t> steps_of_graphs(const std::filesystem::path& folder) {
  std::vector<std::int64_t> steps;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    for (const testing::ReadEvent& event : testing::read_events(entry.path())) {
      if (event.graph.empty()) continue;
      EXPECT_NE(event.graph.find("dense"), std::string::npos);
      steps.push_back(event.step);
    }
  }
  std::ranges::sort(steps);
  return steps;
}

// Each start writes the graph once, at its first step.
TEST(Summaries, HaveTheGraphOfTheModel) {
  const TemporaryFolder folder;
  Summaries first(folder.path());
  Interruption interruption(4, 5, false);
  Watching watching(first);
  interruption.trainer = &watching.trainer();
  first.watch(watching.trainer().replica());
  watching.trainer().add_hook(interruption);
  EXPECT_THROW(watching.trainer().run(), std::runtime_error);
  EXPECT_EQ(steps_of_graphs(folder.path() / "train"), std::vector<std::int64_t>{1});

  Summaries second(folder.path());
  Watching again(second);
  second.watch(again.trainer().replica());
  again.trainer().give_state(interruption.state);
  again.trainer().run();
  EXPECT_EQ(steps_of_graphs(folder.path() / "train"), (std::vector<std::int64_t>{1, 5}));
}

TEST(Summaries, HaveNoGraphThatIsNotWanted) {
  for (const bool watches : {false, true}) {
    const TemporaryFolder folder;
    Summaries summaries(folder.path(), {.graph = !watches});
    Watching watching(summaries, 1);
    if (watches) summaries.watch(watching.trainer().replica());
    watching.trainer().run();
    EXPECT_EQ(steps_of_graphs(folder.path() / "train"), std::vector<std::int64_t>());
  }
}

TEST(Summaries, KeepWhatIsNotANumber) {
  const TemporaryFolder folder;
  SummaryCurves curves(folder.path(), {.every_steps = 1, .histogram_steps = 1}, 2);
  const std::vector<float> values = {1, std::nanf(""), INFINITY};
  curves.watch({{"weights", {3}, values}}, {});
  const std::vector<double> sums = {-INFINITY, std::nan("")};
  curves.begin({});
  curves.add_step({.score = {sums, 10}, .samples = 10, .train_seconds = 1, .steps = 1});
  curves.end(true);
  const auto train = folder.path() / "train";
  EXPECT_EQ(curve(train, "cost"), (Curve{{1, -INFINITY}}));
  EXPECT_TRUE(std::isnan(curve(train, "accuracy").at(0).second));
  EXPECT_TRUE(std::isnan(curve(train, "parameter_norm/weights").at(0).second));
  EXPECT_EQ(curve(train, "parameters/weights/not_finite"), (Curve{{1, 2}}));
}

TEST(Summaries, HaveTheSecondsOfCheckpoints) {
  const TemporaryFolder folder;
  SummaryCurves curves(folder.path(), {}, 1);
  curves.begin({});
  curves.add_checkpoint({.step = 7, .stall_us = 250'000, .seconds = 1.5});
  curves.end(true);
  EXPECT_EQ(curve(folder.path() / "train", "checkpoint/seconds"), (Curve{{7, 1.5F}}));
  EXPECT_EQ(curve(folder.path() / "train", "checkpoint/stall_seconds"), (Curve{{7, 0.25F}}));
}

TEST(Summaries, HaveTheSecondsOfEachRank) {
  const TemporaryFolder folder;
  const std::vector<RankSeconds> seconds = {{1, 2, 0}, {2.5, 0.5, 0.25}};
  for (const bool is_wanted : {true, false}) {
    const auto logs = folder.path() / (is_wanted ? "wanted" : "unwanted");
    SummaryCurves curves(logs, {.every_steps = 4, .rank_seconds = is_wanted}, 1);
    const std::vector<double> sums = {1};
    curves.begin({});
    curves.add_step({.score = {sums, 1}, .steps = 3});
    curves.add_step({.score = {sums, 1}, .steps = 4, .rank_seconds = seconds});
    curves.end(true);
    const auto of = [&](const char* tag) { return curve(logs / "train", tag); };
    EXPECT_EQ(of("compute_seconds/rank_0"), is_wanted ? (Curve{{4, 1}}) : Curve());
    EXPECT_EQ(of("wait_seconds/rank_0"), is_wanted ? (Curve{{4, 2}}) : Curve());
    EXPECT_EQ(of("checkpoint_seconds/rank_0"), is_wanted ? (Curve{{4, 0}}) : Curve());
    EXPECT_EQ(of("compute_seconds/rank_1"), is_wanted ? (Curve{{4, 2.5F}}) : Curve());
    EXPECT_EQ(of("wait_seconds/rank_1"), is_wanted ? (Curve{{4, 0.5F}}) : Curve());
    EXPECT_EQ(of("checkpoint_seconds/rank_1"), is_wanted ? (Curve{{4, 0.25F}}) : Curve());
  }
}

TEST(Summaries, AskForTheSecondsOfEachRank) {
  const TemporaryFolder folder;
  Summaries summaries(folder.path(), kEverySecond);
  Watching watching(summaries);
  watching.trainer().run();
  const Curve seconds = curve(folder.path() / "train", "compute_seconds/rank_0");
  EXPECT_EQ(steps_of(seconds), (std::vector<std::int64_t>{2, 4, 6, 8}));
  for (const auto& [step, value] : seconds) EXPECT_GT(value, 0);
}

TEST(Summaries, RefuseToHaveNoPoint) {
  const auto error = testing::error_of([] { Summaries("logs", {.every_steps = 0}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace rota
