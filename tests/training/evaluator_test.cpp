// An evaluator, and the checkpoints of a Trainer. Method: one rank trains in this process, and the
// files are real; a hook keeps what the rank itself finds out about each checkpoint.
#include <rota/evaluator.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <rota/end_signal.h>

#include "exports/shown_curve.h"
#include "testing/error_of.h"
#include "training/evaluated_run.h"

namespace rota {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::evaluated_model;
using ::testing::HasSubstr;
using testing::kEvaluated;
using testing::kTrained;
using testing::Steps;

class EvaluatorTest : public testing::EvaluatedRun {
 protected:
  // Each loader of TensorBoard shows each checkpoint of train(2) once, with its latest score.
  void expect_one_curve() const {
    const fs::path folder = logs_ / "evaluator";
    const testing::Curve costs = testing::curve(folder, "cost");
    EXPECT_THAT(testing::steps_of(costs), ElementsAre(3, 6, 9, 12));
    EXPECT_EQ(testing::curve_of_fast_loader(folder, "cost"), costs);
    for (const CheckpointScore& score : scores_) {
      const auto found = std::ranges::find(costs, static_cast<std::int64_t>(score.step),
                                           [](const auto& point) { return point.first; });
      ASSERT_NE(found, costs.end()) << "step " << score.step;
      EXPECT_NEAR(found->second, score.score.loss / 25, 1e-5) << "25 samples";
    }
  }
};

TEST_F(EvaluatorTest, ScoresEachCheckpointOnce) {
  train(2);
  const EvaluatorReport report = evaluate();
  EXPECT_THAT(evaluated(), ElementsAre(3, 6, 9, 12));
  EXPECT_EQ(report.evaluated, 4U);
  EXPECT_EQ(report.missed + report.damaged + report.left, 0U);
  EXPECT_TRUE(report.has_ended);
  const CheckpointScore& last = scores_.back();
  EXPECT_EQ(last.path, checkpoint("12"));
  EXPECT_EQ(last.score.samples, 25U);
  EXPECT_EQ(last.score.correct, by_rank_.correct);
  EXPECT_NEAR(last.score.loss, by_rank_.loss, 1e-5);
  EXPECT_GT(scores_.front().score.loss, last.score.loss) << "it learns";
  EXPECT_EQ(line_count(), 4U);

  EXPECT_EQ(evaluate().evaluated, 0U);
  EXPECT_EQ(line_count(), 4U);
  train(3);  // Goes on.
  evaluate();
  EXPECT_THAT(evaluated(), ElementsAre(15, 18));
}

// TensorBoard then shows the points over the time of training. Another evaluator writes all points
// again, and knows their times from the lines.
TEST_F(EvaluatorTest, GivesPointsTheTimesOfTheirCheckpoints) {
  train(1);
  const auto first = fs::last_write_time(checkpoint("3")) - std::chrono::hours(5);
  fs::last_write_time(checkpoint("3"), first);
  logs_ = folder_.path() / "logs";
  evaluate();
  fs::remove_all(logs_);
  train(2);
  evaluate();
  const double expected =
      std::chrono::duration<double>(fs::file_time_type::clock::to_sys(first).time_since_epoch())
          .count();
  std::size_t count = 0;
  for (const testing::ReadEvent& event : testing::events_in(logs_ / "evaluator")) {
    if (event.tag != "cost" || event.step != 3) continue;
    EXPECT_NEAR(event.wall_time, expected, 0.001);
    ++count;
  }
  EXPECT_GE(count, 1U);
}

// The evaluator is there first, and waits for the folder.
TEST_F(EvaluatorTest, FollowsARunThatGoesOn) {
  std::thread evaluator([&] { evaluate(); });
  train(2);
  evaluator.join();
  EXPECT_THAT(evaluated(), ElementsAre(3, 6, 9, 12));
}

TEST_F(EvaluatorTest, DoesNotEndBeforeTheRunHas) {
  train(1);
  fs::remove(run() / "ended.json");
  std::atomic<bool> has_returned = false;
  EvaluatorReport report;
  std::thread evaluator([&] {
    report = evaluate();
    has_returned = true;
  });
  while (line_count() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(has_returned);
  ::kill(::getpid(), SIGTERM);
  evaluator.join();
  EXPECT_FALSE(report.has_ended);
  EXPECT_EQ(report.evaluated, 2U);
}

TEST_F(EvaluatorTest, ScoresTheNewestAloneAfterSigterm) {
  train(2);
  const EndSignal signal;
  ::kill(::getpid(), SIGTERM);
  ASSERT_TRUE(signal.wait_for(std::chrono::seconds(20)));
  const EvaluatorReport report = evaluate();
  EXPECT_THAT(evaluated(), ElementsAre(12));
  EXPECT_EQ(report.left, 3U);
  EXPECT_TRUE(report.has_ended);
}

// The clock was set back between the checkpoints of steps 9 and 12.
TEST_F(EvaluatorTest, ScoresTheLastAfterSigtermWhateverTheClockSaid) {
  train(2);
  fs::remove(run() / "ended.json");
  const auto now = fs::last_write_time(checkpoint("9"));
  fs::last_write_time(checkpoint("12"), now - std::chrono::hours(1));
  const EndSignal signal;
  ::kill(::getpid(), SIGTERM);
  ASSERT_TRUE(signal.wait_for(std::chrono::seconds(20)));
  EXPECT_EQ(evaluate().evaluated, 1U);
  EXPECT_THAT(evaluated(), ElementsAre(12));
}

// The signal comes in the middle of an evaluation, when a newer checkpoint is there.
TEST_F(EvaluatorTest, LeavesAnOlderCheckpointForTheNewestAfterSigterm) {
  train(2);
  const EvaluatorReport report = evaluate_with_sigterm([] {});
  EXPECT_THAT(evaluated(), ElementsAre(12));
  EXPECT_EQ(report.left, 3U);
}

// rotarun sends SIGTERM at once when all ranks have ended.
TEST_F(EvaluatorTest, ScoresTheOthersAfterTheNewestWhenTheRanksHaveEnded) {
  train(2);
  const fs::path end = run() / "ended.json";
  const fs::path hidden = run() / "hidden";
  fs::rename(end, hidden);
  logs_ = folder_.path() / "logs";
  ::setenv("ROTA_ROLE", "evaluator", 1);
  const EvaluatorReport report = evaluate_with_sigterm([&] { fs::rename(hidden, end); });
  ::unsetenv("ROTA_ROLE");
  EXPECT_THAT(evaluated(), ElementsAre(12, 3, 6, 9));
  EXPECT_EQ(report.left, 0U);
  EXPECT_TRUE(report.has_ended);
  expect_one_curve();
}

// Somebody asked rotarun to end the job, so there may be little time.
TEST_F(EvaluatorTest, ScoresTheNewestAloneBesideRanksThatWereStopped) {
  train(2);
  make_end_old();
  ::setenv("ROTA_ROLE", "evaluator", 1);
  const EvaluatorReport report = evaluate_with_sigterm([] {});
  ::unsetenv("ROTA_ROLE");
  EXPECT_THAT(evaluated(), ElementsAre(12));
  EXPECT_FALSE(report.has_ended);
}

TEST_F(EvaluatorTest, PassesOverWhatIsDamaged) {
  train(2);
  for (const auto& entry : fs::directory_iterator(checkpoint("6"))) {
    if (entry.path().extension() == ".safetensors") fs::resize_file(entry.path(), 100);
  }
  fs::remove(checkpoint("9") / "manifest.json");
  const EvaluatorReport report = evaluate();
  EXPECT_THAT(evaluated(), ElementsAre(3, 12));
  EXPECT_EQ(report.damaged, 2U);
  EXPECT_EQ(report.missed, 0U);
}

TEST_F(EvaluatorTest, NamesWhatTheRunRemovedMeanwhile) {
  train(2);
  Evaluator<float> evaluator(evaluated_model(), kEvaluated, options());
  Steps steps;
  ::testing::internal::CaptureStderr();
  const auto report = evaluator.run([&](const CheckpointScore& score) {
    steps.push_back(score.step);
    fs::remove_all(checkpoint("6"));
    fs::remove_all(checkpoint("9"));
  });
  const std::string reported = ::testing::internal::GetCapturedStderr();
  for (const char* step : {"3", "6", "9", "12"}) {
    const bool is_named = reported.find(checkpoint(step).string() +
                                        ": was removed before its "
                                        "turn") != std::string::npos;
    EXPECT_EQ(is_named, !fs::exists(checkpoint(step))) << reported;
  }
  EXPECT_THAT(steps, ElementsAre(3, 12));
  EXPECT_EQ(report.missed, 2U);
  EXPECT_EQ(report.damaged, 0U);
}

// A larger `keep` would not help.
TEST_F(EvaluatorTest, NamesWhatTheRunSetAsideMeanwhile) {
  train(1);
  Evaluator<float> evaluator(evaluated_model(), kEvaluated, options());
  ::testing::internal::CaptureStderr();
  const auto report = evaluator.run([&](const CheckpointScore& score) {
    if (score.step == 3) fs::rename(checkpoint("6"), checkpoint("6").string() + ".set-aside-1");
  });
  const std::string reported = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(reported, HasSubstr(checkpoint("6").string() + ": was set aside before its turn"));
  EXPECT_EQ(reported.find("keep more"), std::string::npos) << reported;
  EXPECT_EQ(report.missed, 1U);
}

// Beside ranks, the run may be about to go on.
TEST_F(EvaluatorTest, DoesNotTrustAnOldEndBesideRanks) {
  train(1);
  train(1);  // The file then has the same contents as after the third run.
  make_end_old();
  ::setenv("ROTA_ROLE", "evaluator", 1);
  std::atomic<bool> has_returned = false;
  EvaluatorReport report;
  std::thread evaluator([&] {
    report = evaluate();
    has_returned = true;
  });
  while (line_count() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(has_returned);
  train(1);  // Has nothing to do, and says again that the run has ended.
  evaluator.join();
  ::unsetenv("ROTA_ROLE");
  EXPECT_TRUE(report.has_ended);
}

// A short run has ended while this process still read its data. SIGTERM ends an evaluator that
// waits for another end.
TEST_F(EvaluatorTest, TrustsAnEndThatIsNewerThanItsProcess) {
  train(1);
  ::setenv("ROTA_ROLE", "evaluator", 1);
  std::atomic<bool> has_returned = false;
  EvaluatorReport report;
  std::thread evaluator([&] {
    report = evaluate();
    has_returned = true;
  });
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!has_returned && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (!has_returned) ::kill(::getpid(), SIGTERM);
  evaluator.join();
  ::unsetenv("ROTA_ROLE");
  EXPECT_TRUE(report.has_ended);
  EXPECT_EQ(report.evaluated, 2U);
}

// An evaluator that was killed between the point and the line writes the point again.
TEST_F(EvaluatorTest, WritesOneCurveAfterRestarts) {
  train(1);
  logs_ = folder_.path() / "logs";
  evaluate();
  const std::string all =
      (std::ostringstream() << std::ifstream(run() / "evaluations.jsonl").rdbuf()).str();
  std::ofstream(run() / "evaluations.jsonl") << all.substr(0, all.find('\n') + 1);
  train(2);
  evaluate();
  expect_one_curve();
  std::set<std::string> tags;
  for (const testing::ReadEvent& event : testing::events_in(logs_ / "evaluator")) {
    if (!event.tag.empty()) tags.insert(event.tag);
  }
  EXPECT_THAT(tags, ElementsAre("accuracy", "cost"));
}

// SIGTERM has left the older checkpoints to the next evaluator.
TEST_F(EvaluatorTest, WritesOneCurveIfTheNewestWasScoredBeforeARestart) {
  train(2);
  logs_ = folder_.path() / "logs";
  {
    const EndSignal signal;
    ::kill(::getpid(), SIGTERM);
    ASSERT_TRUE(signal.wait_for(std::chrono::seconds(20)));
    evaluate();
  }
  EXPECT_THAT(evaluated(), ElementsAre(12));
  evaluate();
  EXPECT_THAT(evaluated(), ElementsAre(3, 6, 9));
  expect_one_curve();
}

// The run goes on from step 6 when step 12 has its score.
TEST_F(EvaluatorTest, WritesOneCurveOfARunThatGoesBack) {
  train(2);
  logs_ = folder_.path() / "logs";
  Evaluator<float> evaluator(evaluated_model(), kEvaluated, options());
  evaluator.run([&](const CheckpointScore& score) {
    scores_.push_back(score);
    if (scores_.size() != 4) return;
    for (const char* step : {"9", "12"}) {
      fs::rename(checkpoint(step), checkpoint(step).string() + ".set-aside-1");
    }
    train(2);
  });
  EXPECT_THAT(evaluated(), ElementsAre(3, 6, 9, 12, 9, 12));
  EXPECT_EQ(scores_.back().start, 2U);
  expect_one_curve();
}

// An evaluator that ended with an error would end the training. Method: a file has the name of the
// folder of curves, until the second checkpoint has its score. Its point comes later then.
TEST_F(EvaluatorTest, GoesOnWithoutAFolderForCurves) {
  train(2);
  logs_ = folder_.write("logs", {1});
  Evaluator<float> evaluator(evaluated_model(), kEvaluated, options());
  ::testing::internal::CaptureStderr();
  const EvaluatorReport report = evaluator.run([&](const CheckpointScore& score) {
    if (score.step == 6) fs::remove(logs_);
  });
  const std::string reported = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(report.evaluated, 4U);
  EXPECT_TRUE(report.has_ended);
  EXPECT_EQ(line_count(), 4U);
  const auto first = reported.find("rota: warning: the evaluator goes on without curves: ");
  ASSERT_NE(first, std::string::npos) << reported;
  EXPECT_EQ(reported.find("warning", reported.find('\n')), std::string::npos) << reported;
  EXPECT_THAT(reported, HasSubstr(logs_.string()));
  EXPECT_THAT(testing::steps_of(testing::curve(logs_ / "evaluator", "cost")),
              ElementsAre(3, 6, 9, 12));
}

TEST_F(EvaluatorTest, PassesOverALineThatIsDamaged) {
  train(1);
  std::ofstream(run() / "evaluations.jsonl") << "no evaluation\n";
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(evaluate().evaluated, 2U);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("evaluations.jsonl: line 1 is damaged, and is passed over"));
  EXPECT_EQ(line_count(), 3U);
}

TEST_F(EvaluatorTest, ScoresOneCheckpointOrFile) {
  train(1);
  Evaluator<float> evaluator(evaluated_model(), kEvaluated, {.batch_size = 10});
  const CheckpointScore first = evaluator.evaluate(checkpoint("3"));
  EXPECT_EQ(first.step, 3U);
  EXPECT_EQ(first.start, 1U);
  EXPECT_EQ(first.run.size(), 32U);
  const CheckpointScore last = evaluator.evaluate(checkpoint("6"));
  const CheckpointScore file = evaluator.evaluate(folder_.path() / "model.safetensors");
  EXPECT_EQ(file.step, 6U) << "of the metadata";
  EXPECT_EQ(file.run, "");
  EXPECT_EQ(file.score.loss, last.score.loss);
  EXPECT_NE(file.score.loss, first.score.loss);
  EXPECT_FALSE(fs::exists(run() / "evaluations.jsonl"));
}

// The class with the largest logit is right as often as evaluate() says.
TEST_F(EvaluatorTest, PredictsWithLoadedParameters) {
  train(1);
  Evaluator<float> evaluator(evaluated_model(), kEvaluated, {.batch_size = 10});
  BatchBuffer<float> buffer(kEvaluated, kEvaluated.count());
  std::vector<std::uint64_t> samples(kEvaluated.count());
  std::iota(samples.begin(), samples.end(), std::uint64_t{0});
  evaluator.load(checkpoint("3"));
  const auto early = evaluator.model().predict(buffer.gather(samples));
  evaluator.load(checkpoint("6"));
  const auto last = evaluator.model().predict(buffer.gather(samples));
  EXPECT_NE(early, last);
  evaluator.load(folder_.path() / "model.safetensors");
  EXPECT_EQ(evaluator.model().predict(buffer.gather(samples)), last);
  std::size_t correct = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto logits = std::span(last).subspan(i * 4, 4);
    const auto best = std::ranges::max_element(logits) - logits.begin();
    if (best == kEvaluated.labels[i]) ++correct;
  }
  EXPECT_EQ(correct, by_rank_.correct);
}

TEST_F(EvaluatorTest, RefusesWhatDoesNotFit) {
  train(1);
  const auto code_of = [](const auto& body) {
    const auto error = testing::error_of(body);
    return error ? error->code() : ErrorCode::kClosed;
  };
  Evaluator<float> other(Model<float>({6, 6, 1}, {dense(5), dense(4)}), kEvaluated, options());
  EXPECT_EQ(code_of([&] { other.run(); }), ErrorCode::kMismatch);
  EXPECT_EQ(code_of([&] { other.evaluate(checkpoint("3")); }), ErrorCode::kMismatch);
  EXPECT_EQ(code_of([&] { other.evaluate(folder_.path() / "model.safetensors"); }),
            ErrorCode::kInvalidArgument);
  auto ours = make();
  EXPECT_EQ(code_of([&] { ours.evaluate(run() / "nothing"); }), ErrorCode::kNotFound);
  EXPECT_EQ(code_of([&] { ours.evaluate(run()); }), ErrorCode::kBadData) << "has no manifest";
  EXPECT_EQ(code_of([&] { ours.evaluate(run() / "owner"); }), ErrorCode::kBadData);
  EXPECT_EQ(code_of([&] { ours.load(run() / "nothing"); }), ErrorCode::kNotFound);

  EvaluatorOptions careful = options();
  careful.training_set = SampleFacts{.count = 60, .digest = "other labels"};
  Evaluator<float> elsewhere(evaluated_model(), kEvaluated, careful);
  const auto error = testing::error_of([&] { elsewhere.run(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kMismatch);
  EXPECT_THAT(error->what(), HasSubstr("was trained on 60 samples, labels' hash"));
  EXPECT_THAT(error->what(), HasSubstr("expects 60 samples, other labels"));
  careful.training_set->digest = samples_of(kTrained, ours.model(), 10, "training").digest;
  Evaluator<float> here(evaluated_model(), kEvaluated, careful);
  EXPECT_EQ(here.run().evaluated, 2U);
}

TEST_F(EvaluatorTest, RefusesOptionsThatMakeNoSense) {
  const auto refuses = [&](const EvaluatorOptions& options) {
    const auto error =
        testing::error_of([&] { Evaluator<float>(evaluated_model(), kEvaluated, options).run(); });
    return error && error->code() == ErrorCode::kInvalidArgument;
  };
  EXPECT_TRUE(refuses({}));
  EXPECT_TRUE(refuses({.folder = run(), .batch_size = 0}));
  EXPECT_TRUE(refuses({.folder = run(), .interval = std::chrono::milliseconds(0)}));
  EXPECT_THROW(Evaluator<float>(evaluated_model(), DatasetView(kEvaluated, {}), options()), Error);
}

}  // namespace
}  // namespace rota
