// Tests how a validation judges predictions, and what it shows. The rows are made up: no page of
// docs/ has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "validate/report.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;
using ::testing::HasSubstr;
using ::testing::Not;

ValidationPoint tree_point(std::size_t hosts) {
  return {.world = {.megabits = 1000, .hosts = hosts, .ranks_per_host = 2},
          .plan = Algorithm::kTree,
          .bytes = 64 << 10};
}

// Returns a point that was measured to take a second in each of three rounds.
ValidatedPoint judged_point(double predicted, double cable) {
  return {.point = tree_point(4),
          .predicted = {.seconds = predicted, .cable_seconds = cable},
          .rounds = {1, 1, 1}};
}

// Returns so many points that the bytes bound, or not, with predictions of so many seconds.
std::vector<ValidatedPoint> judged_points(bool bound_by_bytes,
                                          const std::vector<std::pair<std::size_t, double>>& some) {
  std::vector<ValidatedPoint> points;
  for (const auto& [count, predicted] : some) {
    points.insert(points.end(), count, judged_point(predicted, bound_by_bytes ? 0.9 : 0.1));
  }
  return points;
}

TEST(ValidatedPoint, IsBoundByBytesThatTakeHalfOfTheTime) {
  EXPECT_TRUE(judged_point(1, 0.5).is_bound_by_bytes());
  EXPECT_FALSE(judged_point(1, 0.49).is_bound_by_bytes());
}

TEST(ValidatedPoint, IsAMissBeyondTheErrorOfItsKind) {
  EXPECT_NEAR(judged_point(0.75, 0.9).error(), -0.25, 1e-12);
  EXPECT_FALSE(judged_point(1.09, 0.9).is_miss());
  EXPECT_TRUE(judged_point(1.11, 0.9).is_miss());
  EXPECT_TRUE(judged_point(0.89, 0.9).is_miss());
  EXPECT_FALSE(judged_point(1.39, 0.1).is_miss());
  EXPECT_TRUE(judged_point(1.41, 0.1).is_miss());
  EXPECT_TRUE(judged_point(0.59, 0.1).is_miss());
}

TEST(ValidatedPoint, IsUnsteadyIfItsRoundsDifferByMore) {
  ValidatedPoint point = judged_point(1, 0.9);
  point.rounds = {1, 1.09, 1.05};
  EXPECT_FALSE(point.is_unsteady());
  point.rounds = {1, 1.11, 1.05};
  EXPECT_TRUE(point.is_unsteady());
  point.predicted.cable_seconds = 0;  // Other points may differ by 40 %.
  EXPECT_FALSE(point.is_unsteady());
  point.rounds = {1, 1.41, 1.05};
  EXPECT_TRUE(point.is_unsteady());
}

TEST(ValidatedPoint, IsMeasuredByItsMedianRound) {
  ValidatedPoint point = judged_point(1, 0.9);
  point.rounds = {4, 1, 2};
  EXPECT_EQ(point.measured_seconds(), 2);
}

TEST(Criteria, WantNineOfTenWithinTenPercentIfBytesBound) {
  EXPECT_TRUE(criteria_of(judged_points(true, {{9, 1.05}, {1, 1.2}}))[0].is_met());
  EXPECT_FALSE(criteria_of(judged_points(true, {{8, 1.05}, {2, 1.2}}))[0].is_met());
}

TEST(Criteria, WantNearlyAllWithinAQuarterIfBytesBound) {
  EXPECT_TRUE(criteria_of(judged_points(true, {{49, 1.2}, {1, 2}}))[1].is_met());
  EXPECT_FALSE(criteria_of(judged_points(true, {{48, 1.2}, {2, 2}}))[1].is_met());
}

TEST(Criteria, WantFourOfFiveOthersWithinFortyPercent) {
  EXPECT_TRUE(criteria_of(judged_points(false, {{8, 0.7}, {2, 0.5}}))[2].is_met());
  EXPECT_FALSE(criteria_of(judged_points(false, {{7, 0.7}, {3, 0.5}}))[2].is_met());
}

TEST(Criteria, JudgeEachKindOfPointsAlone) {
  std::vector<ValidatedPoint> points = judged_points(true, {{3, 1}});
  const std::vector<ValidatedPoint> others = judged_points(false, {{5, 1.3}});
  points.insert(points.end(), others.begin(), others.end());
  points.push_back({.point = tree_point(8), .predicted = {.seconds = 9}});  // Not measured.
  const std::vector<Criterion> criteria = criteria_of(points);
  EXPECT_EQ(criteria[0].judged, 3u);
  EXPECT_EQ(criteria[1].judged, 3u);
  EXPECT_EQ(criteria[2].judged, 5u);
  EXPECT_TRUE(are_met(criteria));
}

TEST(Criteria, AreNotMetByNothing) {
  for (const Criterion& criterion : criteria_of({})) EXPECT_FALSE(criterion.is_met());
}

// Returns costs in which a latency is a millisecond, which bounds the points of few bytes.
ForecastBasis basis_of_slow_messages() {
  ForecastBasis basis{.folder = "costs", .machine = "m", .cores = 1000};
  for (const std::size_t megabits : {100u, 1000u}) {
    for (const std::size_t ranks : {1u, 2u}) {
      const Link link{.latency_seconds = 1e-3,
                      .busy_seconds = 2e-5,
                      .seconds_per_byte = 8e-6 / static_cast<double>(megabits)};
      Calibration& costs = basis.calibrations[{megabits, ranks}];
      costs = {.machine = "m", .transport = ranks == 1 ? "tcp" : "shm+tcp"};
      costs.costs = {.within_host = link, .between_hosts = link};
    }
  }
  return basis;
}

// Returns measurements that the predictions meet exactly.
MeasuredPoints as_predicted(const std::vector<ValidationPoint>& points,
                            const ForecastBasis& basis) {
  MeasuredPoints measured;
  for (const ValidationPoint& point : points) {
    measured[point].assign(3, forecast(point, basis).seconds);
  }
  return measured;
}

TEST(Validation, HoldsIfPredictionsAreRight) {
  const std::vector<ValidationPoint> points = points_named("few");
  const ForecastBasis basis = basis_of_slow_messages();
  const Validation validation = validate(points, basis, as_predicted(points, basis));
  EXPECT_TRUE(are_met(validation.criteria));
  EXPECT_EQ(validation.of_half_latency, Notice::kYes);
  EXPECT_TRUE(validation.holds());
}

TEST(Validation, FailsIfTheLatencyIsHalved) {
  const std::vector<ValidationPoint> points = points_named("few");
  const ForecastBasis basis = basis_of_slow_messages();
  const Validation validation =
      validate(points, with_half_latency(basis), as_predicted(points, basis));
  EXPECT_FALSE(validation.criteria[2].is_met());
  EXPECT_FALSE(validation.holds());
}

// Bytes bound the ring. Computing bounds the training, whose cable is fast. So a wrong latency
// would not show, and nobody may trust this validation.
TEST(Validation, FailsIfAWrongLatencyWouldNotShow) {
  ForecastBasis basis = basis_of_slow_messages();
  for (auto& named : basis.calibrations) {
    named.second.costs.between_hosts = {
        .latency_seconds = 1e-9, .busy_seconds = 0, .seconds_per_byte = 8e-11};
  }
  const ValidatedWorld world{.megabits = 1000, .hosts = 2, .ranks_per_host = 1};
  const std::vector<ValidationPoint> points{
      {.world = world, .plan = Algorithm::kRing, .bytes = 1 << 20},
      {.world = world, .model = "lenet"}};
  const Validation validation = validate(points, basis, as_predicted(points, basis));
  EXPECT_TRUE(are_met(validation.criteria));
  EXPECT_EQ(validation.of_half_latency, Notice::kNo);
  EXPECT_FALSE(validation.holds());
}

// With half of each latency the criteria are missed as well, but that says nothing about latencies.
TEST(Validation, DoesNotJudgeAWrongLatencyIfTheRightOneMissesTheCriteria) {
  const std::vector<ValidationPoint> points = points_named("few");
  const ForecastBasis basis = basis_of_slow_messages();
  MeasuredPoints measured = as_predicted(points, basis);
  for (auto& each : measured) {
    for (double& seconds : each.second) seconds *= 10;
  }
  const Validation validation = validate(points, basis, measured);
  for (const Criterion& criterion : validation.criteria) EXPECT_FALSE(criterion.is_met());
  EXPECT_EQ(validation.of_half_latency, Notice::kNotJudged);
  EXPECT_FALSE(validation.holds());
}

TEST(NoticeOf, NeedsACriterionThatTheRightBasisMeets) {
  const Criterion met{.wanted_share = 0.9, .judged = 10, .within = 9};
  const Criterion missed{.wanted_share = 0.9, .judged = 10, .within = 8};
  EXPECT_EQ(notice_of({met, met}, {met, missed}), Notice::kYes);
  EXPECT_EQ(notice_of({missed, met}, {missed, missed}), Notice::kYes);
  EXPECT_EQ(notice_of({met, met}, {met, met}), Notice::kNo);
  EXPECT_EQ(notice_of({missed, met}, {missed, met}), Notice::kNotJudged);
  EXPECT_EQ(notice_of({missed, missed}, {missed, missed}), Notice::kNotJudged);
}

// Returns a validation of six points: a good one, an unsteady one, a miss, a long one, one that was
// not measured, and a training.
Validation made_up_validation() {
  Validation validation;
  ValidatedPoint& good = validation.points.emplace_back(judged_point(1.04, 0.9));
  good.point.world.hosts = 2;
  ValidatedPoint& unsteady = validation.points.emplace_back(judged_point(1, 0.1));
  unsteady.point.world.hosts = 3;
  unsteady.rounds = {1, 1, 2};
  validation.points.push_back(judged_point(0.8, 0.9));
  validation.points.push_back({.point = tree_point(6), .predicted = {.seconds = 2.5}});
  validation.points.push_back({.point = tree_point(8), .predicted = {.seconds = 0.5}});
  ValidatedPoint& training = validation.points.emplace_back(judged_point(1.3, 0.1));
  training.point.model = "mlp";
  training.point.world = {.megabits = 100, .hosts = 2, .ranks_per_host = 1};
  validation.criteria = criteria_of(validation.points);
  validation.of_half_latency = Notice::kYes;
  return validation;
}

TEST(ValidationReport, HasTheCriteria) {
  Validation validation = made_up_validation();
  const std::string page = to_markdown(validation);
  EXPECT_THAT(page, HasSubstr("| the bytes take at least half of the time | 2 | 10 % | 50.0 % | "
                              "90 % | **missed** |\n"));
  EXPECT_THAT(page, HasSubstr("| the bytes take at least half of the time | 2 | 25 % | 100.0 % | "
                              "98 % | met |\n"));
  EXPECT_THAT(page, HasSubstr("| all others | 2 | 40 % | 100.0 % | 80 % | met |\n"));
  EXPECT_THAT(page, HasSubstr("half of each latency | | | | a criterion is missed | met |\n"));
  validation.of_half_latency = Notice::kNo;
  EXPECT_THAT(to_markdown(validation), HasSubstr("a criterion is missed | **missed** |\n"));
  validation.of_half_latency = Notice::kNotJudged;
  EXPECT_THAT(to_markdown(validation), HasSubstr("a criterion is missed | not judged |\n"));
}

TEST(ValidationReport, NamesMisses) {
  Validation validation = made_up_validation();
  EXPECT_THAT(to_markdown(validation),
              HasSubstr("**Misses**\n\n- tree, 64 KiB, 4 hosts of 2 ranks, 1 Gbit/s: measured "
                        "1000.00 ms, predicted 800.00 ms, -20 %.\n\n"));
  validation.points.erase(validation.points.begin() + 2);
  EXPECT_THAT(to_markdown(validation), HasSubstr("**Misses**\n\nThere are none.\n\n"));
}

TEST(ValidationReport, NamesWhatIsLeftOut) {
  Validation validation = made_up_validation();
  EXPECT_THAT(to_markdown(validation),
              HasSubstr("**Left out**\n\n"
                        "- tree, 64 KiB, 6 hosts of 2 ranks, 1 Gbit/s: predicted to take 2.50 s.\n"
                        "- tree, 64 KiB, 8 hosts of 2 ranks, 1 Gbit/s: not measured.\n\n"));
  validation.points.resize(3);
  EXPECT_THAT(to_markdown(validation), Not(HasSubstr("Left out")));
}

TEST(ValidationReport, HasATableForEachRateAndNumberOfRanks) {
  const std::string page = to_markdown(made_up_validation());
  EXPECT_THAT(page, HasSubstr("**all-reduce, 2 ranks on each host, 1 Gbit/s**\n\n"
                              "| plan | bytes | 2 hosts, ms | 3 hosts, ms | 4 hosts, ms | 6 hosts, "
                              "ms | 8 hosts, ms |\n|---|---:|---|---|---|---|---|\n"
                              "| tree | 64 KiB | m 1000.00, p 1040.00, +4 % B | m 1000.00, p "
                              "1000.00, +0 % U | m 1000.00, p 800.00, -20 % B X | left out | left "
                              "out |\n\n"));
  EXPECT_THAT(page, HasSubstr("**paced training, 1 rank on each host, 100 Mbit/s**\n\n"
                              "| model | scaling | 2 hosts, ms |\n|---|---:|---|\n"
                              "| mlp | weak | m 1000.00, p 1300.00, +30 % |\n\n"));
}

}  // namespace
}  // namespace rota::bench
