// Tests the progress of a training run, as text for people and as JSON for programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include <rota/progress.h>

#include "testing/comma_locale.h"

namespace rota {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr std::size_t kAllSteps = 100;

StepReport step_report(std::size_t step, double train_seconds, double loss = 1) {
  StepReport report;
  report.epoch = 2;
  report.epoch_count = 10;
  report.step = step;
  report.step_count = kAllSteps;
  report.score = {.loss = loss * 200, .correct = 50, .samples = 200};
  report.samples = (kAllSteps + step) * 200;
  report.train_seconds = train_seconds;
  return report;
}

EpochReport epoch_report() {
  EpochReport report;
  report.epoch = 2;
  report.epoch_count = 10;
  report.step_count = kAllSteps;
  report.train = {.loss = 5000, .correct = 9000, .samples = 20000};
  report.test = {.loss = 1000, .correct = 9876, .samples = 10000};
  report.epoch_seconds = 0.5;
  report.train_seconds = 1.25;
  return report;
}

EndReport end_report() {
  EndReport report;
  report.world_size = 4;
  report.transport = "shm";
  report.test = {.loss = 1000, .correct = 9876, .samples = 10000};
  report.seconds = 12.5;
  report.weights_hash = 0xab54a98ceb1f0ad2;
  return report;
}

TEST(ProgressText, SaysWhereAStepStandsHowFastAndHowLongYet) {
  // 120 of 1000 steps took 3 s, so 22 s are left.
  EXPECT_EQ(to_text(step_report(20, 3), 0.5),
            "epoch  2/10  step  20/100  8000 images/s  loss 0.5000  0:22 left");
}

TEST(ProgressText, WritesLongTimesWithHours) {
  EXPECT_THAT(to_text(step_report(100, 1000), 0), HasSubstr("  1:06:40 left"));
  EXPECT_THAT(to_text(step_report(100, 100), 0), HasSubstr("  6:40 left"));
}

TEST(ProgressText, SurvivesAClockThatHasNotMoved) {
  EXPECT_THAT(to_text(step_report(1, 0), 0), HasSubstr("  0 images/s  "));
}

TEST(ProgressText, SumsUpAnEpoch) {
  EXPECT_EQ(to_text(epoch_report()),
            "epoch  2/10  0.50 s  40000 images/s  loss 0.2500  test loss 0.1000  "
            "test accuracy 98.76 %");
}

TEST(ProgressText, SumsUpAnEvaluation) {
  EpochReport epoch = epoch_report();
  epoch.validation = {.loss = 600, .correct = 2925, .samples = 3000};
  EXPECT_THAT(to_text(epoch), HasSubstr("  loss 0.2500  validation loss 0.2000  "
                                        "validation accuracy 97.50 %  test loss 0.1000  "));
  EXPECT_EQ(to_text(EvaluationReport{.steps = 1200, .score = epoch.validation}),
            "evaluation of step 1200  3000 samples  loss 0.2000  accuracy 97.50 %");
}

TEST(ProgressText, IsTheSameInEveryLocale) {
  const testing::CommaLocale locale;
  ASSERT_TRUE(testing::CommaLocale::is_in_use());
  EXPECT_EQ(to_text(epoch_report()),
            "epoch  2/10  0.50 s  40000 images/s  loss 0.2500  test loss 0.1000  "
            "test accuracy 98.76 %");
  EXPECT_EQ(to_text(end_report()),
            "done in 12.5 s  test accuracy 98.76 %  weights ab54a98ceb1f0ad2");
}

TEST(ProgressText, SaysHowManySavesACheckpointLeftOut) {
  CheckpointReport report{.step = 8, .path = "run/8", .bytes = 1'200'000, .seconds = 0.5};
  EXPECT_EQ(to_text(report), "checkpoint of step 8  1.2 MB in 0.50 s  run/8");
  report.left_out = 2;
  EXPECT_EQ(to_text(report),
            "checkpoint of step 8  1.2 MB in 0.50 s  run/8  (2 saves left out meanwhile)");
  EXPECT_EQ(nlohmann::json::parse(to_json(report))["left_out"], 2);
}

TEST(ProgressText, SumsUpTheRun) {
  EXPECT_EQ(to_text(end_report()),
            "done in 12.5 s  test accuracy 98.76 %  weights ab54a98ceb1f0ad2");
}

TEST(ProgressJson, OfAnEvaluationIsWrittenForAValidationSet) {
  std::ostringstream out;
  JsonLines lines(out);
  EvaluationReport report{.steps = 1200, .score = {.loss = 600, .correct = 2925, .samples = 3000}};
  lines.on_evaluation(report);
  EXPECT_EQ(out.str(), "") << "the line of the epoch has the test set";
  report.is_validation = true;
  lines.on_evaluation(report);
  EXPECT_EQ(out.str(), R"({"event":"evaluation","step":1200,"samples":3000,"loss":0.2,)"
                       R"("accuracy":0.975})"
                       "\n");
}

TEST(ProgressJson, OfAnEpochHasItsNumbers) {
  const auto json = nlohmann::json::parse(to_json(epoch_report()));
  EXPECT_EQ(json["event"], "epoch");
  EXPECT_EQ(json["epoch"], 2);
  EXPECT_EQ(json["steps"], 100);
  EXPECT_EQ(json["images_per_second"], 40000.0);
  EXPECT_EQ(json["train_seconds"], 1.25);
  EXPECT_EQ(json["train_loss"], 0.25);
  EXPECT_EQ(json["test_loss"], 0.1);
  EXPECT_EQ(json["test_accuracy"], 0.9876);
}

TEST(ProgressJson, OfTheEndHasItsNumbers) {
  const auto json = nlohmann::json::parse(to_json(end_report()));
  EXPECT_EQ(json["event"], "done");
  EXPECT_EQ(json["world"], 4);
  EXPECT_EQ(json["transport"], "shm");
  EXPECT_EQ(json["seconds"], 12.5);
  EXPECT_EQ(json["test_accuracy"], 0.9876);
  EXPECT_EQ(json["weights_hash"], "ab54a98ceb1f0ad2");
}

TEST(ProgressJson, WritesNullWhereThereIsNoNumber) {
  EpochReport report = epoch_report();
  report.test.loss = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(nlohmann::json::parse(to_json(report))["test_loss"].is_null());
}

std::size_t count_of(char wanted, const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), wanted));
}

TEST(ProgressOnATerminal, RewritesOneLineTenTimesASecond) {
  std::ostringstream out;
  Progress progress(out, {.columns = 80});
  for (std::size_t step = 1; step <= kAllSteps; ++step) {
    progress.on_step(step_report(step, 0.125 * static_cast<double>(step)));
  }
  EXPECT_EQ(count_of('\r', out.str()), kAllSteps);
  EXPECT_EQ(count_of('\n', out.str()), 0u);
  EXPECT_THAT(out.str(), EndsWith(" left\x1b[K\r"));
  progress.on_step(step_report(kAllSteps, 0.125 * kAllSteps + 0.01));
  EXPECT_EQ(count_of('\r', out.str()), kAllSteps) << "too early for another state";
}

TEST(ProgressOnATerminal, NeverFillsItsLastColumn) {
  std::ostringstream out;
  Progress progress(out, {.columns = 12});
  progress.on_step(step_report(10, 1));
  EXPECT_EQ(out.str(), "epoch  2/10\x1b[K\r");
}

TEST(ProgressOnATerminal, LetsTheEpochsLineTakeTheLiveLinesPlace) {
  std::ostringstream out;
  Progress progress(out, {.columns = 80});
  progress.on_epoch(epoch_report());
  EXPECT_THAT(out.str(), EndsWith(" %\x1b[K\n"));
}

TEST(ProgressOnATerminal, ShowsTheMeanLossSinceTheLineBefore) {
  std::ostringstream out;
  Progress progress(out, {.columns = 80});
  progress.on_step(step_report(1, 0.25, 8));
  progress.on_step(step_report(2, 0.26, 1));
  out.str("");
  progress.on_step(step_report(3, 0.5, 2));
  EXPECT_THAT(out.str(), HasSubstr("loss 1.5000"));
}

// The seconds of each run start at zero.
TEST(ProgressOnATerminal, ShowsASecondRunFromItsStart) {
  std::ostringstream out;
  Progress progress(out, {.columns = 80});
  progress.on_step(step_report(1, 100, 8));
  progress.on_step(step_report(2, 100.01, 8));  // Shown by no line, and not part of the next run.
  out.str("");
  progress.on_step(step_report(1, 0.25, 1));
  EXPECT_THAT(out.str(), HasSubstr("loss 1.0000"));
}

TEST(ProgressElsewhere, WritesALineInFiveSecondsAndTenAnEpochAtMost) {
  std::ostringstream fast;
  Progress fast_progress(fast, {.columns = 0});
  std::ostringstream slow;
  Progress slow_progress(slow, {.columns = 0});
  for (std::size_t step = 1; step <= kAllSteps; ++step) {
    fast_progress.on_step(step_report(step, 0.125 * static_cast<double>(step)));
    slow_progress.on_step(step_report(step, 10 * static_cast<double>(step)));
  }
  EXPECT_EQ(count_of('\n', fast.str()), 2u) << fast.str();
  EXPECT_EQ(count_of('\n', slow.str()), 10u) << slow.str();
  EXPECT_EQ(count_of('\r', fast.str()) + count_of('\x1b', fast.str()), 0u);
}

TEST(ProgressText, SaysAfterHowManyStepsATrainingWasStopped) {
  EndReport report = end_report();
  report.stopped = true;
  report.steps = 1234;
  EXPECT_EQ(to_text(report), "stopped after 1234 steps in all, 12.5 s  weights ab54a98ceb1f0ad2");
  EXPECT_EQ(to_json(report),
            R"({"event":"stopped","world":4,"transport":"shm","seconds":12.5,"steps":1234,)"
            R"("weights_hash":"ab54a98ceb1f0ad2"})");
  report.steps = 1;
  EXPECT_EQ(to_text(report), "stopped after 1 step in all, 12.5 s  weights ab54a98ceb1f0ad2");
}

TEST(JsonLines, AreOneObjectALine) {
  std::ostringstream out;
  JsonLines lines(out);
  lines.on_step({.epoch = 1, .epoch_count = 2, .step = 1, .step_count = 2, .train_seconds = 0.5});
  lines.on_step({.epoch = 1, .epoch_count = 2, .step = 2, .step_count = 2});
  lines.on_epoch(epoch_report());
  lines.on_step({.epoch = 2, .epoch_count = 2, .step = 1, .step_count = 2});
  lines.on_end(end_report());
  EXPECT_EQ(out.str(), R"({"event":"first_step","train_seconds":0.5})"
                       "\n" +
                           to_json(epoch_report()) + "\n" + to_json(end_report()) + "\n");
}

class ProgressEnvironment : public ::testing::Test {
 protected:
  ~ProgressEnvironment() override { ::unsetenv("ROTA_TERMINAL"); }
};

// The test's output is captured, so it is not a terminal.
TEST_F(ProgressEnvironment, HasTheWidthThatALauncherLeft) {
  ::testing::internal::CaptureStdout();
  ::setenv("ROTA_TERMINAL", "132", 1);
  const std::size_t columns = ProgressOptions::from_environment().columns;
  ::setenv("ROTA_TERMINAL", "wide", 1);
  const std::size_t none = ProgressOptions::from_environment().columns;
  ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(columns, 132u);
  EXPECT_EQ(none, 0u);
}

}  // namespace
}  // namespace rota
