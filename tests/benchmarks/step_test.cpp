// Tests predicted training steps: sums that begin as buckets get ready, and what jitter, cores and
// the choice of plans change.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "predict/cables.h"
#include "predict/step.h"
#include "predict/world.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;

constexpr BucketOptions kBucketForEach{.first_bucket_bytes = 64, .bucket_bytes = 64};

// A step of one rank alone takes 7 s.
Workload two_layers() {
  return {.name = "two", .forward_seconds = 1, .gradients = {{"first", 32, 4}, {"last", 16, 2}}};
}

// A cable carries 64 bytes in a second. Nothing else takes time.
WorldModel slow_cables(const WorldShape& shape) {
  WorldModel costs;
  costs.between_hosts.seconds_per_byte = 1.0 / 64;
  return model_of(shape, costs);
}

StepOptions ring_of(const BucketOptions& buckets) {
  return {.plan = Algorithm::kRing, .buckets = buckets};
}

std::string refused_step(const WorldModel& model, const StepOptions& options) {
  try {
    predict_step(model, two_layers(), options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

// The sum of 24 bytes takes 2 messages of 3/8 s. Each bucket takes two rounds of 64 bytes.
TEST(Step, SumsABucketWhileTheBackwardPassGoesOn) {
  const StepPrediction step =
      predict_step(slow_cables({.host_count = 2}), two_layers(), ring_of(kBucketForEach));
  EXPECT_EQ(step.buckets,
            (std::vector<PredictedBucket>{{{.algorithm = Algorithm::kRing, .count = 16}, 3, 5},
                                          {{.algorithm = Algorithm::kRing, .count = 32}, 7, 9}}));
  EXPECT_EQ(step.world_size, 2u);
  EXPECT_EQ(step.alone_seconds, 7);
  EXPECT_EQ(step.step_seconds, 9);
  EXPECT_EQ(step.computing_seconds, 7);
  EXPECT_EQ(step.waiting_seconds, 2);
  EXPECT_EQ(step.communication_seconds, 4.75);
  EXPECT_EQ(efficiency_of(step), 7.0 / 9);
}

// One bucket has 48 elements, so the larger of its two chunks has 128 bytes.
TEST(Step, SumsOneBucketAfterTheBackwardPass) {
  const StepPrediction step = predict_step(slow_cables({.host_count = 2}), two_layers(),
                                           ring_of({.first_bucket_bytes = 1024}));
  EXPECT_EQ(step.step_seconds, 7 + 4);
}

TEST(Step, UpdatesABucketWhileTheNextOneTravels) {
  Workload workload = two_layers();
  workload.update_seconds = 3;  // A second for the last layer, two for the first one.
  const StepPrediction step =
      predict_step(slow_cables({.host_count = 2}), workload, ring_of(kBucketForEach));
  EXPECT_EQ(step.step_seconds, 9 + 2);
  EXPECT_EQ(step.waiting_seconds, 1);
}

// A burst lets the bytes of many steps pass at once, but not those of all steps. One of the bursts
// is used up by the first steps, the other one by none that are simulated.
TEST(Step, TakesTheTimeOfItsBytesWhenTheBurstIsUsedUp) {
  const Workload workload{
      .name = "large", .forward_seconds = 2, .gradients = {{"all", 640, 6}}};  // 8 s.
  WorldModel model = slow_cables({.host_count = 2});
  const StepOptions options = ring_of({});
  const BucketLayout layout = layout_of(model, workload, options.buckets);
  const double bytes = busiest_cable_seconds(model, calls_of(model, layout, options));
  ASSERT_GT(bytes, 40);
  for (const double steps : {8.0, 1000.0}) {
    model.burst_bytes = steps * 64 * bytes;
    const StepPrediction step = predict_step(model, workload, options);
    EXPECT_NEAR(step.step_seconds, bytes, 1e-6) << steps;
    EXPECT_NEAR(step.waiting_seconds, bytes - 8, 1e-6) << steps;
  }
}

TEST(Step, OfOneRankHasNothingToWaitFor) {
  const StepPrediction step = predict_step(slow_cables({}), two_layers(), {});
  EXPECT_EQ(step.step_seconds, 7);
  EXPECT_EQ(efficiency_of(step), 1);
}

TEST(Step, TakesTwiceAsLongIfTwoRanksShareACore) {
  StepOptions options = ring_of(kBucketForEach);
  const WorldModel model = slow_cables({.ranks_per_host = 2});
  EXPECT_EQ(predict_step(model, two_layers(), options).step_seconds, 7);
  options.cores = 2;
  EXPECT_EQ(predict_step(model, two_layers(), options).step_seconds, 7);
  options.cores = 1;
  EXPECT_EQ(predict_step(model, two_layers(), options).step_seconds, 14);
}

// Additions take a second for each 64 bytes. On a core of their own they hide, except the last.
TEST(Step, SharesItsCoreWithTheSums) {
  WorldModel model = slow_cables({.host_count = 2});
  model.between_hosts.seconds_per_byte = 0;
  model.reduce_seconds_per_byte = 1.0 / 64;
  StepOptions options = ring_of(kBucketForEach);
  EXPECT_EQ(predict_step(model, two_layers(), options).step_seconds, 8);
  options.cores = 1;
  EXPECT_GT(predict_step(model, two_layers(), options).step_seconds, 8);
}

TEST(Step, WithJitterDependsOnTheSeedAlone) {
  const WorldModel model = slow_cables({.host_count = 4});
  StepOptions options = ring_of(kBucketForEach);
  const double even = predict_step(model, two_layers(), options).step_seconds;
  options.jitter = 0.1;
  const StepPrediction first = predict_step(model, two_layers(), options);
  EXPECT_EQ(predict_step(model, two_layers(), options), first);
  EXPECT_GT(first.step_seconds, even);
  EXPECT_LT(first.step_seconds, 2 * even);
  EXPECT_GT(first.computing_seconds, first.alone_seconds);
  options.seed = 2;
  EXPECT_NE(predict_step(model, two_layers(), options), first);
}

TEST(Step, WithImpossibleJitterIsRefused) {
  const WorldModel small = slow_cables({.host_count = 2});
  EXPECT_EQ(refused_step(small, {.jitter = -0.1}),
            "a jitter of -0.1 is not possible: it is a number from 0 to 1000");
  EXPECT_NE(refused_step(small, {.jitter = HUGE_VAL}), "");
  EXPECT_NE(refused_step(small, {.jitter = std::nan("")}), "");
  EXPECT_EQ(refused_step(small, {.steps = 0}), "0 steps cannot be predicted");
  EXPECT_EQ(refused_step(slow_cables({.host_count = 513}), {.jitter = 0.1}),
            "jitter makes ranks differ, so that each of them must be simulated: a world with "
            "jitter has at most 512 ranks, and this one has 513");
}

TEST(Step, ByAPlanThatCannotSumIsRefused) {
  const WorldModel model = slow_cables({.host_count = 2});
  EXPECT_EQ(refused_step(model, {.plan = Algorithm::kChain}),
            "the plan chain cannot be predicted: it has no all-reduce");
  EXPECT_EQ(refused_step(model, {.plan = Algorithm::kMpi}),
            "the plan mpi cannot be predicted: another library runs it");
  EXPECT_EQ(refused_step(model, {.plan = Algorithm::kShared}),
            "the plan shared-memory needs ranks that all share memory");
}

TEST(Step, ChoosesThePlansThatRotaChooses) {
  const WorldModel model = slow_cables({.host_count = 8});
  const BucketLayout layout{.buckets = {{0, 16 * 1024}, {16 * 1024, 16 * 1024 + 16}}};
  const std::vector<Call> plain = calls_of(model, layout, {});
  EXPECT_EQ(plain, (std::vector<Call>{{Algorithm::kHub, 6},
                                      {Algorithm::kDirect, 16 * 1024},
                                      {Algorithm::kRing, 16 * 1024 + 16}}));
  const std::vector<Call> coded = calls_of(model, layout, {.codec = Codec::kInt8});
  EXPECT_EQ(coded, (std::vector<Call>{{Algorithm::kHub, 6},
                                      {Algorithm::kRing, 16 * 1024, Codec::kInt8},
                                      {Algorithm::kRing, 16 * 1024 + 16, Codec::kInt8}}));
}

// A gradient has 1 MiB, so none of them fits into the first bucket beside another one.
TEST(Step, FillsTheBucketsThatRotaFillsInAWorldOfThisSize) {
  Workload workload{.name = "equal", .forward_seconds = 1, .gradients = {}};
  workload.gradients.assign(64, {"layer", std::size_t{1} << 18, 1e-3});
  const auto most_gradients = [&](std::size_t hosts, const BucketOptions& options) {
    return std::ranges::max(
        layout_of(slow_cables({.host_count = hosts}), workload, options).population);
  };
  EXPECT_EQ(most_gradients(128, {}), 4u);
  EXPECT_EQ(most_gradients(256, {}), 8u);
  EXPECT_EQ(most_gradients(512, {}), 16u);
  EXPECT_EQ(most_gradients(512, {.bucket_bytes = std::size_t{2} << 20}), 2u);
}

TEST(CallRunner, SimulatesACallOnceForEachStart) {
  WorldModel model = slow_cables({.host_count = 2});
  const Call call{.algorithm = Algorithm::kRing, .count = 1024};
  CallRunner calls(model, Fold::kNever);
  Clock clock(model);
  for (double end = 64; end <= 256; end += 64) {
    calls.run(call, clock);
    EXPECT_EQ(clock.ranks, (std::vector<double>{end, end}));
  }
  EXPECT_EQ(calls.simulated_count(), 1u);
  clock.ranks[0] += 1;  // Another start.
  calls.run(call, clock);
  EXPECT_EQ(calls.simulated_count(), 2u);
}

// The second call pays for the burst of the first one, so it is another one.
TEST(CallRunner, SimulatesACallWithoutABurstAgain) {
  WorldModel model = slow_cables({.host_count = 2});
  model.burst_bytes = 4096;
  const Call call{.algorithm = Algorithm::kRing, .count = 1024};
  CallRunner calls(model, Fold::kNever);
  Clock clock(model);
  calls.run(call, clock);
  EXPECT_EQ(clock.ranks[0], 0);
  calls.run(call, clock);
  EXPECT_EQ(clock.ranks[0], 64);
  EXPECT_EQ(calls.simulated_count(), 2u);
}

}  // namespace
}  // namespace rota::bench
