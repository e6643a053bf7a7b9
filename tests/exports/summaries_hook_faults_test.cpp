// Curves of a training run that cannot be written: the run goes on without them. Method: a Trainer
// trains, and a file has the name of a folder, or files may not grow.
#include <rota/summaries_hook.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <utility>

#include <rota/trainer.h>

#include "exports/full_disk.h"
#include "exports/watching.h"
#include "testing/error_of.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

using testing::count_of;
using testing::Curve;
using testing::curve;
using testing::Interruption;
using testing::kEverySecond;
using testing::kWatchedValidation;
using testing::ScoreRecorder;
using testing::steps_of;
using testing::TemporaryFolder;
using testing::Watching;

// In the first step, waits until the disk has a point.
class FirstPoint : public TrainingHook {
 public:
  explicit FirstPoint(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void on_step(const StepReport& report) override {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (report.steps == 1 && curve(folder_, "cost").empty() &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  std::filesystem::path folder_;
};

// The histograms need more than the limit.
TEST(Summaries, DoNotStopTrainingWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  const SummaryOptions at_once{.flush_interval = std::chrono::milliseconds(1)};
  Summaries summaries(folder.path(), {.every_steps = 1, .histogram_steps = 1, .writer = at_once});
  Watching watching(summaries, 20);
  summaries.watch(watching.trainer().replica());
  FirstPoint first_point(folder.path() / "train");
  watching.trainer().add_hook(first_point);
  ::testing::internal::CaptureStderr();
  EndReport end;
  {
    const testing::FullDisk full(20'000);
    end = watching.trainer().run();
  }
  const std::string reported = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(end.steps, 60U);
  EXPECT_EQ(count_of(reported, " so far\n"), 1U) << reported;
  EXPECT_EQ(count_of(reported, " in all\n"), 1U) << reported;
  const Curve cost = curve(folder.path() / "train", "cost");
  EXPECT_GT(cost.size(), 0U);
  EXPECT_LT(cost.size(), 60U);
}

// All that writes to a folder is called: points, tensors, the graph, both evaluations, a state.
TEST(Summaries, DoNotStopTrainingWithoutAFolder) {
  TemporaryFolder folder;
  const auto path = folder.write("file", {1});
  Summaries summaries(path / "logs", {.every_steps = 1, .histogram_steps = 1});
  Watching watching(summaries);
  Interruption interruption(4, 0, false);
  interruption.trainer = &watching.trainer();
  summaries.watch(watching.trainer().replica());
  watching.trainer().set_validation(kWatchedValidation);
  watching.trainer().add_hook(interruption);
  ::testing::internal::CaptureStderr();
  const EndReport end = watching.trainer().run();
  const std::string reported = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(end.steps, 9U);
  EXPECT_EQ(count_of(reported, "training goes on without curves of train: "), 1U) << reported;
  EXPECT_EQ(count_of(reported, "cannot be created"), 1U) << reported;
}

TEST(Summaries, DoNotEndByACheckpointWithoutAFolder) {
  TemporaryFolder folder;
  SummaryCurves curves(folder.write("file", {1}), {}, 1);
  ::testing::internal::CaptureStderr();
  curves.begin({});
  curves.add_checkpoint({.step = 7, .stall_us = 250'000, .seconds = 1.5});
  curves.end(true);
  EXPECT_EQ(count_of(::testing::internal::GetCapturedStderr(), "goes on without curves"), 1U);
}

// The run has no writer for its first steps. When it is resumed, the folder is there. The first
// point then has the mean of its own interval alone.
TEST(Summaries, HaveTheirPointsOnceTheFolderIsThere) {
  TemporaryFolder folder;
  const auto logs = folder.write("logs", {1});
  Summaries first(logs, kEverySecond);
  Interruption interruption(4, 5, false);
  Watching watching(first);
  interruption.trainer = &watching.trainer();
  watching.trainer().add_hook(interruption);
  ::testing::internal::CaptureStderr();
  EXPECT_THROW(watching.trainer().run(), std::runtime_error);
  EXPECT_EQ(count_of(::testing::internal::GetCapturedStderr(), "goes on without curves"), 1U);

  std::filesystem::remove(logs);
  Summaries second(logs, kEverySecond);
  Watching again(second);
  ScoreRecorder recorder;
  again.trainer().add_hook(recorder);
  again.trainer().give_state(interruption.state);
  again.trainer().run();
  const Curve costs = curve(logs / "train", "cost");
  ASSERT_EQ(steps_of(costs), (std::vector<std::int64_t>{6, 8}));
  const Score both = added(recorder.steps.at(0), recorder.steps.at(1));
  EXPECT_EQ(costs[0].second, static_cast<float>(both.loss / 40));
}

// The folder of train is there.
TEST(Summaries, DoNotStopTrainingWithoutAFolderOfTests) {
  TemporaryFolder folder;
  folder.write("test", {1});
  Summaries summaries(folder.path(), kEverySecond);
  Watching watching(summaries);
  ::testing::internal::CaptureStderr();
  const EndReport end = watching.trainer().run();
  const std::string reported = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(end.steps, 9U);
  EXPECT_EQ(count_of(reported, "training goes on without curves of test: "), 1U) << reported;
  EXPECT_EQ(curve(folder.path() / "train", "cost").size(), 4U);
}

TEST(Summaries, RefuseAFolderWhereAnotherRunWrites) {
  for (const char* part : {"train", "test"}) {
    const TemporaryFolder folder;
    const SummaryWriter other(folder.path() / part);
    Summaries summaries(folder.path(),
                        {.writer = {.other_writer_wait = std::chrono::milliseconds(0)}});
    Watching watching(summaries);
    const auto error = testing::error_of([&] { watching.trainer().run(); });
    ASSERT_TRUE(error) << part;
    EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
    EXPECT_THAT(std::string(error->what()), ::testing::HasSubstr("another writer is writing"));
  }
}

// All ranks wait with rank 0, so only the first evaluation may wait. Method: another run writes to
// the folder of validation, and the wait is long enough to tell it from none.
TEST(Summaries, WaitOnceForAnotherRunWhileTrainingGoesOn) {
  constexpr std::chrono::seconds kWait{2};
  const TemporaryFolder folder;
  const SummaryWriter other(folder.path() / "validation");
  SummaryCurves curves(folder.path(), {.writer = {.other_writer_wait = kWait}}, 1);
  ::testing::internal::CaptureStderr();
  curves.begin({});
  const double sum = 1;
  const auto evaluate = [&] {
    BasicEvaluationReport<ScoreSums> report;
    report.is_validation = true;
    report.score = {std::span(&sum, 1), 10};
    const auto start = std::chrono::steady_clock::now();
    curves.add_evaluation(report);
    return std::chrono::steady_clock::now() - start;
  };
  EXPECT_GE(evaluate(), kWait);
  for (int i = 0; i < 2; ++i) EXPECT_LT(evaluate(), kWait);
  curves.end(true);
  EXPECT_EQ(count_of(::testing::internal::GetCapturedStderr(), "without curves of validation: "),
            1U);
}

// The folder of validation is made only when training has begun.
TEST(Summaries, DoNotStopTrainingWithoutAFolderOfValidation) {
  TemporaryFolder folder;
  folder.write("validation", {1});  // A file, so no folder can have this name.
  Summaries summaries(folder.path());
  Watching watching(summaries);
  watching.trainer().set_validation(kWatchedValidation);
  ::testing::internal::CaptureStderr();
  const EndReport end = watching.trainer().run();
  const std::string reported = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(end.steps, 9U);
  EXPECT_EQ(count_of(reported, "training goes on without curves of validation: "), 1U) << reported;
  EXPECT_EQ(count_of(reported, "cannot be created"), 1U) << reported;
  EXPECT_EQ(curve(folder.path() / "test", "cost").size(), 3U);
}

}  // namespace
}  // namespace rota
