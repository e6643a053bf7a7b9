// Tests the part of the page of scaling that is predicted: the model of Horovod's benchmark comes
// close to the published figures, and each cell says where it comes from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "answers/page.h"
#include "commands.h"

namespace rota::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count_of_text(const std::string& all, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = all.find(part); at != std::string::npos; at = all.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Answers, ComeWithinTenPointsOfHorovodsFigures) {
  const std::vector<ComparedRun> runs = compared_runs(horovod_runs());
  ASSERT_EQ(runs.size(), 9u);
  for (const ComparedRun& compared : runs) {
    EXPECT_NEAR(compared.predicted, compared.run.efficiency, 0.10)
        << compared.run.model << " on " << compared.run.hosts << " hosts";
    EXPECT_TRUE(is_close(runs, compared.run.model));
  }
}

// The rate is calibrated with this run.
TEST(Answers, AreCalibratedWithVggOnFourHosts) {
  ASSERT_EQ(std::ranges::count(horovod_runs(), true, &HorovodRun::calibrates), 1);
  const HorovodRun run = *std::ranges::find(horovod_runs(), true, &HorovodRun::calibrates);
  ASSERT_EQ(run.model, "vgg-16");
  ASSERT_EQ(run.hosts, 4u);
  EXPECT_NEAR(compared_runs({&run, 1}).front().predicted, run.efficiency, 0.005);
}

// The page says so.
TEST(Answers, ChangeByLessThanSixPointsWithTheLatencies) {
  for (const std::string model : {"inception-v3", "resnet-101", "vgg-16"}) {
    const auto efficiency_with = [&](double factor) {
      WorldModel costs = costs_of_gpus(kHorovodRate);
      costs.within_host.latency_seconds *= factor;
      costs.between_hosts.latency_seconds *= factor;
      return predicted_efficiency(
          model, model_of({.host_count = 128, .ranks_per_host = kGpusOfHost}, costs),
          horovod_way());
    };
    EXPECT_NEAR(efficiency_with(0.5), efficiency_with(1), 0.06) << model;
    EXPECT_NEAR(efficiency_with(2), efficiency_with(1), 0.06) << model;
  }
}

TEST(Answers, SayInEachCellWhereItComesFrom) {
  const std::vector<ComparedRun> runs{{{"vgg-16", 4, 0.85, true}, 0.86},
                                      {{"vgg-16", 128, 0.70}, 0.61}};
  EXPECT_EQ(horovod_table(runs),
            "|  | GPUs | Horovod | this model | points apart |\n|---|---:|---:|---:|---:|\n"
            "| vgg-16 | 16 | 85.0 % published | 86.0 % calibrated | +1.0 |\n"
            "| vgg-16 | 512 | 70.0 % published | 61.0 % predicted | -9.0 |\n\n");
}

TEST(Answers, LeaveOutAModelThatIsNotClose) {
  const std::vector<ComparedRun> runs{
      {{"resnet-101", 4, 0.9}, 0.9}, {{"vgg-16", 4, 0.85}, 0.86}, {{"vgg-16", 128, 0.68}, 0.79}};
  EXPECT_FALSE(is_close(runs, "vgg-16"));
  EXPECT_TRUE(is_close(runs, "resnet-101"));
  const std::string table = horovod_table(runs);
  EXPECT_THAT(table, Not(HasSubstr("| vgg-16 |")));
  EXPECT_THAT(table, HasSubstr("| resnet-101 | 16 |"));
  EXPECT_THAT(table, HasSubstr("The rows of vgg-16 are left out. On 128 hosts, the prediction is "
                               "79.0 % and Horovod has 68.0 %, which is more than 10 points"));
}

TEST(Answers, TellOverlapFromBucketsPlansAndCodecs) {
  const WorldModel world =
      model_of({.host_count = 16, .ranks_per_host = kGpusOfHost}, costs_of_gpus(kHorovodRate));
  const std::vector<Way> ways = ways_at_512();
  const std::vector<double> efficiencies = efficiencies_of(ways, "vgg-16", world);
  ASSERT_EQ(efficiencies.size(), 6u);
  EXPECT_GT(efficiencies[1], efficiencies[0] + 0.1);  // Overlap.
  EXPECT_GT(efficiencies[5], efficiencies[2] + 0.1);  // The codec.
  const std::vector<std::string> models{"vgg-16"};
  const std::string table = ways_table("64 GPUs", ways, models, world);
  EXPECT_EQ(count_of_text(table, " % predicted"), ways.size());
  EXPECT_THAT(table, HasSubstr("| 64 GPUs | change | vgg-16 |\n|---|---:|---:|\n"));
  EXPECT_THAT(table, HasSubstr("| overlap, against row 1 |"));
  EXPECT_THAT(table, HasSubstr("| plan, against row 3 |"));
  EXPECT_THAT(table, HasSubstr("| the first bucket, and the plans of few bytes, against row 3 |"));
  EXPECT_THAT(table, HasSubstr("| codec, against row 3 |"));
}

// What a row of another plan gains or loses is then due to the plan.
TEST(Answers, ChangeOnlyThePlanInARowOfAPlan) {
  for (const std::vector<Way>& ways : {ways_at_512(), ways_at_10000()}) {
    const auto of_plan = std::ranges::find(ways, std::string_view("plan"), &Way::change);
    ASSERT_NE(of_plan, ways.end());
    const StepOptions& changed = of_plan->options;
    const StepOptions& before = ways[of_plan->from.value()].options;
    EXPECT_NE(changed.plan, before.plan);
    EXPECT_EQ(changed.codec, before.codec);
    EXPECT_EQ(changed.buckets.first_bucket_bytes, before.buckets.first_bucket_bytes);
    EXPECT_EQ(changed.buckets.bucket_bytes, before.buckets.bucket_bytes);
  }
}

// A way is compared with a way above it.
TEST(Answers, CompareEachWayWithAnEarlierOne) {
  for (const std::vector<Way>& ways : {ways_at_512(), ways_at_10000()}) {
    EXPECT_FALSE(ways.front().from);
    for (std::size_t i = 1; i < ways.size(); ++i) {
      ASSERT_TRUE(ways[i].from);
      EXPECT_LT(*ways[i].from, i);
    }
  }
}

// The ways for 10,000 GPUs, on 64 of them: each host has one.
TEST(Answers, CompareTwoPlans) {
  const WorldModel world = model_of({.host_count = 64}, costs_of_gpus(100e9));
  const std::vector<double> efficiencies = efficiencies_of(ways_at_10000(), "inception-v3", world);
  ASSERT_EQ(efficiencies.size(), 5u);
  EXPECT_GT(efficiencies[1], efficiencies[0]);
  EXPECT_GT(efficiencies[3], efficiencies[2]);
}

TEST(Answers, PredictEachPlanForTwoBuckets) {
  const std::string table = plans_table();
  EXPECT_EQ(count_of_text(table, " ms predicted |"), 4u * 2);
  EXPECT_THAT(table, HasSubstr("| halving-doubling |"));
}

TEST(Answers, PredictThatServersAreSlowerThanARing) {
  const std::string table = servers_table();
  EXPECT_EQ(count_of_text(table, " predicted |"), 3u * 4);
  EXPECT_THAT(table, HasSubstr("| vgg-16 |"));
}

TEST(Answers, AreFewIfAsked) {
  std::string program = "scale-answers";
  std::string argument = "--few";
  char* arguments[] = {program.data(), argument.data()};
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(run_answers_command(2, arguments), 0);
  const std::string page = ::testing::internal::GetCapturedStdout();
  EXPECT_TRUE(page.starts_with("## Larger worlds: predicted, not measured\n")) << page;
  EXPECT_TRUE(page.ends_with(servers_table())) << page;
  EXPECT_EQ(count_of_text(page, "\n### "), 1u) << page;
}

TEST(Answers, RefuseWhatIsNoOption) {
  std::string program = "scale-answers";
  std::string argument = "--hosts";
  char* arguments[] = {program.data(), argument.data()};
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run_answers_command(2, arguments), 2);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "rota-bench scale-answers: '--hosts' is not an option\n");
}

}  // namespace
}  // namespace rota::bench
