// Tests which points a validation has, which jobs measure them, and how their rows are read. No
// test measures anything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "collectives/row.h"
#include "scale/row.h"
#include "validate/jobs.h"
#include "validate/measured.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr ValidatedWorld kFourRanks{.megabits = 1000, .hosts = 2, .ranks_per_host = 2};

ValidationPoint call_point(Algorithm plan, std::size_t bytes) {
  return {.world = kFourRanks, .plan = plan, .bytes = bytes};
}

TEST(ValidationPoints, OfTheWholeAreAllWorldsPlansAndSizes) {
  const std::vector<ValidationPoint> points = points_named("whole");
  std::set<ValidatedWorld> worlds;
  std::set<std::size_t> slow_sizes;
  std::set<std::size_t> fast_sizes;
  for (const ValidationPoint& point : points) {
    worlds.insert(point.world);
    if (point.is_training()) continue;
    (point.world.megabits == 1000 ? fast_sizes : slow_sizes).insert(point.bytes);
  }
  EXPECT_THAT(worlds, SizeIs(2 * 5 * 2));  // Rates, numbers of hosts, and ranks of a host.
  EXPECT_EQ(*fast_sizes.begin(), 1u << 10);
  EXPECT_EQ(*fast_sizes.rbegin(), 16u << 20);
  EXPECT_EQ(*slow_sizes.begin(), 1u << 10);
  EXPECT_EQ(*slow_sizes.rbegin(), 1u << 20);
  // Six plans at all sizes, and two models with two scalings, in ten worlds of each rate.
  EXPECT_THAT(points, SizeIs(10 * (6 * (8 + 6) + 2 * 4)));
}

TEST(ValidationPoints, AreAllDifferent) {
  for (const char* set : {"whole", "short", "few"}) {
    const std::vector<ValidationPoint> points = points_named(set);
    EXPECT_EQ(std::set(points.begin(), points.end()).size(), points.size()) << set;
  }
}

TEST(ValidationPoints, HaveNames) {
  EXPECT_EQ(name_of(call_point(Algorithm::kTree, 64 << 10)),
            "tree, 64 KiB, 2 hosts of 2 ranks, 1 Gbit/s");
  EXPECT_EQ(name_of({.world = {.megabits = 100, .hosts = 8, .ranks_per_host = 1},
                     .model = "lenet",
                     .scaling = Scaling::kStrong}),
            "lenet, strong scaling, 8 hosts of 1 rank, 100 Mbit/s");
}

TEST(ValidationPoints, OfAnUnknownSetAreRefused) {
  try {
    points_named("all");
    ADD_FAILURE() << "all is no set";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "--points: there are no points 'all'; there are whole, short, few");
  }
}

TEST(ValidationJobs, ShareAJobIfTheirPlansHaveTheSameSizes) {
  ValidationPoint training = call_point(Algorithm::kRing, 0);
  training.model = "mlp";
  ValidationPoint elsewhere = call_point(Algorithm::kRing, 1024);
  elsewhere.world.hosts = 8;
  const std::string text =
      to_text(jobs_of({call_point(Algorithm::kRing, 1024), call_point(Algorithm::kRing, 4096),
                       call_point(Algorithm::kTree, 1024), call_point(Algorithm::kDirect, 1024),
                       call_point(Algorithm::kDirect, 4096), training, elsewhere}));
  const std::string method = " --placement in-place --calls isolated --no-check --iterations 7\n";
  EXPECT_EQ(text,
            "1000 2 2 all-reduce --plans ring,direct --sizes 1024,4096" + method +
                "1000 2 2 all-reduce --plans tree --sizes 1024" + method +
                "1000 2 2 scale --model mlp --scaling weak --rate 1000 --steps 2 --rounds 1\n" +
                "1000 8 2 all-reduce --plans ring --sizes 1024" + method);
}

// Returns a measured line of four ranks on two hosts.
std::string measured_line(std::string row) {
  std::erase(row, '\n');
  return R"({"hosts": 2, "ranks_per_host": 2, "megabits": 1000, "row": )" + row + "}\n";
}

Row tree_row(std::size_t ranks, double seconds) {
  return {.name = "rota shm+tcp tree",
          .ranks = ranks,
          .work = {.plan = "tree", .total = 256},
          .plan = "tree",
          .median_seconds = seconds};
}

MeasuredPoints measured_from(const std::string& text) {
  std::istringstream lines(text);
  return read_measured(lines);
}

TEST(MeasuredPoints, HaveTheTimesOfAllRounds) {
  const MeasuredPoints points = measured_from(measured_line(to_json(tree_row(4, 0.5))) +
                                              measured_line(to_json(tree_row(4, 0.25))));
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_EQ(points.begin()->first, call_point(Algorithm::kTree, 1024));
  EXPECT_THAT(points.begin()->second,
              ::testing::ElementsAre(::testing::DoubleEq(0.5), ::testing::DoubleEq(0.25)));
}

TEST(MeasuredPoints, AreStepsIfTheRowIsOfScale) {
  const ScaleRow row{.name = "rota",
                     .transport = "shm+tcp",
                     .model = "mlp",
                     .scaling = Scaling::kStrong,
                     .ranks = 4,
                     .hosts = 2,
                     .megabits = 1000,
                     .step = {.median = 0.5}};
  const MeasuredPoints points = measured_from(measured_line(to_json(row)));
  ASSERT_THAT(points, SizeIs(1));
  const ValidationPoint wanted{.world = kFourRanks, .model = "mlp", .scaling = Scaling::kStrong};
  EXPECT_EQ(points.begin()->first, wanted);
  EXPECT_THAT(points.begin()->second, ::testing::ElementsAre(0.5));
}

std::string refused_line(const std::string& line) {
  try {
    measured_from(line);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(MeasuredPoints, AreRefusedIfTheyAreNone) {
  EXPECT_THAT(refused_line("rota is fast\n"),
              HasSubstr("this line is no measured point: rota is fast: "));
  EXPECT_THAT(refused_line(measured_line("{}")), HasSubstr("this line is no measured point: "));
  EXPECT_THAT(refused_line(to_json(tree_row(4, 1))), HasSubstr("this line is no measured point: "));
  EXPECT_THAT(refused_line(measured_line(to_json(tree_row(3, 1)))),
              HasSubstr(": it has 3 ranks in place of 4"));
}

}  // namespace
}  // namespace rota::bench
