// The curves of an evaluator, for evaluations in any order. Method: the event files are real, and
// readers that are like the two loaders of TensorBoard say what both show.
#include "training/evaluator_curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "exports/full_disk.h"
#include "exports/shown_curve.h"
#include "training/temporary_folder.h"

namespace rota::training {
namespace {

using testing::Curve;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

const std::string kShownRun = "000102030405060708090a0b0c0d0e0f";
const std::string kNextRun = "f00102030405060708090a0b0c0d0e0f";
const std::string kLongName(10'000, 'x');  // Of a curve whose points do not fit a full disk.

// Returns an evaluation whose point says which start and step it has.
SavedEvaluation evaluation_of(std::uint64_t start, std::uint64_t step,
                              const std::string& run = kShownRun) {
  const double mean = static_cast<double>(1000 * start + step);
  return {.run = run, .start = start, .step = step, .samples = 4, .sums = {4 * mean, 2}};
}

// Returns an evaluation that also has a point of the curve with the long name.
SavedEvaluation long_evaluation_of(std::uint64_t step) {
  SavedEvaluation evaluation = evaluation_of(1, step);
  evaluation.sums.push_back(0);
  return evaluation;
}

TEST(CurveOf, HasAscendingSteps) {
  EXPECT_THAT(curve_of({}), IsEmpty());
  EXPECT_THAT(curve_of({evaluation_of(1, 12), evaluation_of(1, 3), evaluation_of(1, 6)}),
              ElementsAre(evaluation_of(1, 3), evaluation_of(1, 6), evaluation_of(1, 12)));
}

// First, the second start goes on from step 7, and the third one from step 8. Then the third start
// goes on from a step before all others.
TEST(CurveOf, LeavesOutWhatALaterStartHasReplaced) {
  EXPECT_THAT(curve_of({evaluation_of(1, 7), evaluation_of(1, 8), evaluation_of(1, 9),
                        evaluation_of(2, 8), evaluation_of(3, 9)}),
              ElementsAre(evaluation_of(1, 7), evaluation_of(2, 8), evaluation_of(3, 9)));
  EXPECT_THAT(curve_of({evaluation_of(3, 5), evaluation_of(1, 7), evaluation_of(2, 8)}),
              ElementsAre(evaluation_of(3, 5)));
}

// The second start goes on from step 100, and saves its first checkpoint at step 305. No manifest
// says where a start goes on, so the point of step 207 stays.
TEST(CurveOf, KeepsWhatIsBeforeTheFirstPointOfALaterStart) {
  EXPECT_THAT(curve_of({evaluation_of(1, 100), evaluation_of(1, 207), evaluation_of(1, 311),
                        evaluation_of(2, 305)}),
              ElementsAre(evaluation_of(1, 100), evaluation_of(1, 207), evaluation_of(2, 305)));
}

class EvaluatorCurvesTest : public ::testing::Test {
 protected:
  // Writes a point as an evaluator does, which remembers all evaluations before this one.
  void write(const SavedEvaluation& evaluation) {
    std::vector<SavedEvaluation> others;
    for (const SavedEvaluation& each : saved_) {
      if (each.run == evaluation.run) others.push_back(each);
    }
    curves_.write(evaluation, others);
    saved_.push_back(evaluation);
  }

  // Returns what both loaders show.
  Curve shown(const std::string& tag = "cost") const {
    Curve points = testing::curve(curves_folder_, tag);
    EXPECT_EQ(testing::curve_of_fast_loader(curves_folder_, tag), points);
    return points;
  }

  testing::TemporaryFolder folder_;
  const std::filesystem::path curves_folder_ = folder_.path() / "evaluator";
  EvaluatorCurves curves_{folder_.path(), {"cost", "accuracy", kLongName}};
  std::vector<SavedEvaluation> saved_;
};

TEST_F(EvaluatorCurvesTest, KeepTheNewestCheckpointThatCameFirst) {
  for (const std::uint64_t step : {12, 3, 6, 9}) write(evaluation_of(1, step));
  EXPECT_THAT(shown(), ElementsAre(Pair(3, 1003), Pair(6, 1006), Pair(9, 1009), Pair(12, 1012)));
  EXPECT_THAT(shown("accuracy"),
              ElementsAre(Pair(3, 0.5F), Pair(6, 0.5F), Pair(9, 0.5F), Pair(12, 0.5F)));
}

TEST_F(EvaluatorCurvesTest, KeepLaterPointsAfterARestart) {
  for (const std::uint64_t step : {6, 9}) write(evaluation_of(1, step));
  curves_.close();
  write(evaluation_of(1, 7));
  EXPECT_THAT(shown(), ElementsAre(Pair(6, 1006), Pair(7, 1007), Pair(9, 1009)));
}

TEST_F(EvaluatorCurvesTest, GoBackWithTheRun) {
  for (const std::uint64_t step : {7, 8, 9}) write(evaluation_of(1, step));
  write(evaluation_of(2, 8));
  EXPECT_THAT(shown(), ElementsAre(Pair(7, 1007), Pair(8, 2008)));
  write(evaluation_of(2, 10));
  EXPECT_THAT(shown(), ElementsAre(Pair(7, 1007), Pair(8, 2008), Pair(10, 2010)));
}

// The last checkpoint of the second start came first, after SIGTERM. Those of the first start come
// after it. Step 9 was set aside while it was evaluated.
TEST_F(EvaluatorCurvesTest, KeepPointsOfLaterStarts) {
  write(evaluation_of(2, 8));
  for (const std::uint64_t step : {6, 7, 9}) write(evaluation_of(1, step));
  EXPECT_THAT(shown(), ElementsAre(Pair(6, 1006), Pair(7, 1007), Pair(8, 2008)));
}

// An evaluator that was killed wrote step 6, and has no line of it. The checkpoint is gone.
TEST_F(EvaluatorCurvesTest, DropAPointWithoutALine) {
  for (const std::uint64_t step : {3, 6}) write(evaluation_of(1, step));
  curves_.close();
  saved_.pop_back();
  write(evaluation_of(1, 9));
  EXPECT_THAT(shown(), ElementsAre(Pair(3, 1003), Pair(9, 1009)));
}

TEST_F(EvaluatorCurvesTest, BeginAnewWithARun) {
  for (const std::uint64_t step : {3, 6}) write(evaluation_of(1, step));
  write(evaluation_of(1, 3, kNextRun));
  EXPECT_THAT(shown(), ElementsAre(Pair(3, 1003)));
}

// The new run has no point at the steps of the run before. The fast loader knows no starts, and
// goes on to show those. So each run needs a folder of logs of its own.
TEST_F(EvaluatorCurvesTest, DropEarlierStepsOfAnotherRunInOneLoaderOnly) {
  for (const std::uint64_t step : {3, 6}) write(evaluation_of(1, step));
  write(evaluation_of(1, 9, kNextRun));
  EXPECT_THAT(testing::curve(curves_folder_, "cost"), ElementsAre(Pair(9, 1009)));
  EXPECT_THAT(testing::curve_of_fast_loader(curves_folder_, "cost"),
              ElementsAre(Pair(3, 1003), Pair(6, 1006), Pair(9, 1009)));
}

// For step 6, a file starts that hides step 9. The disk takes this start, but none of the points.
TEST_F(EvaluatorCurvesTest, WriteAgainWhatAFullDiskHasNotTaken) {
  for (const std::uint64_t step : {3, 9}) write(long_evaluation_of(step));
  ::testing::internal::CaptureStderr();
  {
    const testing::FullDisk full(kLongName.size());
    write(long_evaluation_of(6));
  }
  EXPECT_THAT(testing::curve(curves_folder_, "cost"), ElementsAre(Pair(3, 1003)));
  write(long_evaluation_of(12));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("; dropped summaries: 6 so far"));
  for (const std::string& tag : {std::string("cost"), kLongName}) {
    EXPECT_THAT(testing::steps_of(shown(tag)), ElementsAre(3, 6, 9, 12));
  }
}

// A file has the name of the folder.
TEST_F(EvaluatorCurvesTest, WriteLaterWhatHadNoFolder) {
  std::ofstream(curves_folder_) << "no folder";
  ::testing::internal::CaptureStderr();
  for (const std::uint64_t step : {3, 9}) write(evaluation_of(1, step));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("goes on without curves"));
  std::filesystem::remove(curves_folder_);
  write(evaluation_of(1, 12));
  EXPECT_THAT(testing::steps_of(shown()), ElementsAre(3, 9, 12));
}

// The evaluator before has ended without any file.
TEST_F(EvaluatorCurvesTest, AreWholeAfterARestart) {
  for (const std::uint64_t step : {3, 9}) saved_.push_back(evaluation_of(1, step));
  write(evaluation_of(1, 12));
  EXPECT_THAT(testing::steps_of(shown()), ElementsAre(3, 9, 12));
  curves_.close();
  std::filesystem::remove_all(curves_folder_);
  write(evaluation_of(1, 15));
  EXPECT_THAT(testing::steps_of(shown()), ElementsAre(3, 9, 12, 15));
}

// NaN is a point too, and a line of another program may have fewer sums than there are curves.
TEST_F(EvaluatorCurvesTest, HaveAPointForEachSum) {
  SavedEvaluation broken = evaluation_of(1, 3);
  broken.sums = {std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THAT(curves_.means_of(broken), ElementsAre(Pair("cost", ::testing::IsNan())));
  write(broken);
  EXPECT_THAT(shown("accuracy"), IsEmpty());
}

TEST(EvaluatorCurvesWithoutLogs, WriteNothing) {
  EvaluatorCurves curves({}, {"cost"});
  curves.write(evaluation_of(1, 3), {});
  EXPECT_THAT(curves.means_of(evaluation_of(1, 3)), ElementsAre(Pair("cost", 1003)));
}

}  // namespace
}  // namespace rota::training
