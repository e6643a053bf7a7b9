// Tests folding: which ranks are alike, and that the few ranks that stand for all take as long as
// all ranks would.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "predict/fold.h"
#include "predict/step.h"
#include "predict/world.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;

// Returns costs in which no part of a message is free.
WorldModel all_costs() {
  WorldModel costs;
  costs.within_host = {.latency_seconds = 2e-6, .busy_seconds = 0.5e-6, .seconds_per_byte = 0.1e-9};
  costs.between_hosts = {.latency_seconds = 30e-6, .busy_seconds = 4e-6, .seconds_per_byte = 8e-9};
  costs.reduce_seconds_per_byte = 0.2e-9;
  costs.codec = {.encode_seconds_per_byte = 0.3e-9, .decode_seconds_per_byte = 0.2e-9};
  return costs;
}

double seconds_by(Fold fold, const WorldModel& model, const Call& call) {
  CallRunner calls(model, fold);
  Clock clock(model);
  calls.run(call, clock);
  return std::ranges::max(clock.ranks);
}

// Expects that a fold is off by at most this fraction of the time of all ranks.
void expect_near(const WorldShape& shape, const Call& call, const WorldModel& costs,
                 double fraction) {
  const WorldModel model = model_of(shape, costs);
  require_alike(model, call);
  const double all = seconds_by(Fold::kNever, model, call);
  EXPECT_NEAR(seconds_by(Fold::kIfAlike, model, call), all, fraction * all)
      << to_string(call.algorithm) << " of " << call.count << ", " << shape.host_count
      << " hosts with " << shape.ranks_per_host << " ranks, " << shape.hosts_per_switch
      << " hosts at a switch";
}

void expect_same(const WorldShape& shape, const Call& call) {
  expect_near(shape, call, all_costs(), 0.01);
}

TEST(Fold, OfARingIsOneHost) {
  const Call ring{.algorithm = Algorithm::kRing, .count = 1024};
  EXPECT_EQ(period_of(model_of({.host_count = 64}, {}), ring), 1u);
  EXPECT_EQ(period_of(model_of({.host_count = 16, .ranks_per_host = 4}, {}), ring), 4u);
}

TEST(Fold, OfATreeOfSwitchesIsOneSwitch) {
  const WorldModel model =
      model_of({.host_count = 16, .ranks_per_host = 4, .hosts_per_switch = 8}, {});
  EXPECT_EQ(period_of(model, {.algorithm = Algorithm::kRing, .count = 1024}), 32u);
}

TEST(Fold, DoesNotChangeWorldsWhoseRanksDiffer) {
  const WorldModel model = model_of({.host_count = 8}, {});
  EXPECT_EQ(period_of(model, {.algorithm = Algorithm::kTree, .count = 1024}), 8u);
  EXPECT_EQ(period_of(model, {.algorithm = Algorithm::kHub, .count = 1024}), 8u);
  // Only two ranks have a chunk.
  EXPECT_EQ(period_of(model, {.algorithm = Algorithm::kDirect, .count = 32}), 8u);
  EXPECT_EQ(period_of(model, {.algorithm = Algorithm::kDirect, .count = 128}), 1u);
  WorldModel uneven = model;
  uneven.hosts = {0, 0, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(period_of(uneven, {.algorithm = Algorithm::kRing, .count = 1024}), 8u);
}

TEST(Fold, WhereRanksAreNotAlikeIsRefused) {
  const WorldModel model = model_of({.host_count = 8}, all_costs());
  const Workload workload{.forward_seconds = 1, .gradients = {{"a", 1024, 1}}};
  const auto refusal = [&](const StepOptions& options) -> std::string {
    try {
      predict_step(model, workload, options);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({.plan = Algorithm::kRing, .fold = Fold::kAlways}), "");
  EXPECT_EQ(refusal({.plan = Algorithm::kTree, .fold = Fold::kAlways}),
            "the ranks of an all-reduce of 4096 bytes by tree are not alike in this world, so "
            "they cannot be folded");
  EXPECT_EQ(refusal({.jitter = 0.1, .fold = Fold::kAlways}),
            "jitter makes ranks differ, so they cannot be folded");
}

TEST(Fold, OfRingsIsAsLongAsAllRanks) {
  for (const std::size_t hosts : {64, 128, 512}) {
    expect_same({.host_count = hosts}, {.algorithm = Algorithm::kRing, .count = 1'000'003});
  }
  expect_same({.host_count = 64}, {.algorithm = Algorithm::kRing, .count = 17'000});
}

// Some ranks have no chunk. The others take as long as if all had one.
TEST(Fold, OfARingWithGapsIsForLargeWorlds) {
  const Call call{.algorithm = Algorithm::kRing, .count = 1000};
  EXPECT_EQ(period_of(model_of({.host_count = 512}, {}), call), 512u);
  expect_same({.host_count = 513}, call);
}

TEST(Fold, OfRingsOfSeveralRanksPerHostIsAsLongAsAllRanks) {
  expect_same({.host_count = 16, .ranks_per_host = 4},
              {.algorithm = Algorithm::kRing, .count = 1'000'003});
  expect_same({.host_count = 64, .ranks_per_host = 8},
              {.algorithm = Algorithm::kRing, .count = 1'000'003});
}

TEST(Fold, OfARingOfSwitchesIsAsLongAsAllRanks) {
  const Call call{.algorithm = Algorithm::kRing, .count = 1'000'003};
  for (const double factor : {1.0, 4.0, 16.0}) {
    expect_same(
        {.host_count = 32, .ranks_per_host = 2, .hosts_per_switch = 8, .oversubscription = factor},
        call);
  }
  expect_same(
      {.host_count = 128, .ranks_per_host = 2, .hosts_per_switch = 8, .oversubscription = 4}, call);
}

TEST(Fold, OfADirectPlanIsAsLongAsAllRanks) {
  for (const std::size_t count : {16'384, 17'000, 1'000'003}) {
    expect_same({.host_count = 64}, {.algorithm = Algorithm::kDirect, .count = count});
  }
  expect_same({.host_count = 16, .ranks_per_host = 4},
              {.algorithm = Algorithm::kDirect, .count = 1'001'472});
}

// From two ranks to a quarter of all have a chunk. The time is that of the CPUs with all costs, and
// otherwise that of the cables.
TEST(Fold, OfADirectPlanWithGapsIsForLargeWorlds) {
  const auto direct = [](std::size_t count) {
    return Call{.algorithm = Algorithm::kDirect, .count = count};
  };
  WorldModel cables;
  cables.between_hosts = {.latency_seconds = 30e-6, .seconds_per_byte = 8e-9};
  EXPECT_EQ(period_of(model_of({.host_count = 512}, {}), direct(500)), 512u);
  EXPECT_EQ(period_of(model_of({.host_count = 513}, {}), direct(16)), 513u);
  for (const std::size_t count : {32, 64, 500, 2048}) {
    expect_near({.host_count = 513}, direct(count), all_costs(), 0.06);
    expect_near({.host_count = 513}, direct(count), cables, 0.01);
  }
}

// Only 1024 of the ranks have a chunk. All ranks would take more steps than can be simulated.
TEST(Fold, MakesALargeDirectPlanSmall) {
  const WorldModel model = model_of({.host_count = 2100}, all_costs());
  const double seconds =
      seconds_by(Fold::kIfAlike, model, {.algorithm = Algorithm::kDirect, .count = 16 * 1024});
  // A rank with a chunk sends and receives 2 (2099 + 1023) messages.
  EXPECT_GT(seconds, 2 * (2099 + 1023) * 4e-6);
  EXPECT_LT(seconds, 4 * 2099 * 4e-6);
}

TEST(Fold, OfTwoLevelsIsAsLongAsAllRanks) {
  for (const std::size_t ranks_per_host : {4, 8}) {
    expect_same({.host_count = 16, .ranks_per_host = ranks_per_host},
                {.algorithm = Algorithm::kTwoLevel, .count = 1'001'472});
  }
  expect_same({.host_count = 64, .ranks_per_host = 4},
              {.algorithm = Algorithm::kTwoLevel, .count = 999'424});
}

// Ranks that share a cable use it in another order if their chunks differ.
TEST(Fold, OfRanksThatShareACableNeedsEqualChunks) {
  const WorldModel model = model_of({.host_count = 16, .ranks_per_host = 4}, {});
  for (const Algorithm plan : {Algorithm::kRing, Algorithm::kDirect, Algorithm::kTwoLevel}) {
    EXPECT_EQ(period_of(model, {.algorithm = plan, .count = 1024}), 4u);
    EXPECT_EQ(period_of(model, {.algorithm = plan, .count = 1025}), 64u);
  }
  EXPECT_EQ(period_of(model, {.algorithm = Algorithm::kRing, .count = 1'000'003}), 4u);
  EXPECT_EQ(period_of(model, {.algorithm = Algorithm::kDirect, .count = 1'000'003}), 64u);
  const WorldModel large = model_of({.host_count = 129, .ranks_per_host = 4}, {});
  EXPECT_EQ(period_of(large, {.algorithm = Algorithm::kTwoLevel, .count = 1'000'003}), 4u);
}

TEST(Fold, OfACodedRingIsAsLongAsAllRanks) {
  for (const Codec codec : {Codec::kBfloat16, Codec::kInt8, Codec::kTopK}) {
    expect_same({.host_count = 64},
                {.algorithm = Algorithm::kRing, .count = 1'000'003, .codec = codec});
    expect_same({.host_count = 256},
                {.algorithm = Algorithm::kRing, .count = 256 * 4096, .codec = codec});
  }
}

TEST(Fold, OfAShaperIsAsLongAsAllRanks) {
  WorldModel model = model_of({.host_count = 64}, all_costs());
  model.burst_bytes = 128 * 1024;
  const Call call{.algorithm = Algorithm::kRing, .count = 1'000'003};
  const double all = seconds_by(Fold::kNever, model, call);
  EXPECT_NEAR(seconds_by(Fold::kIfAlike, model, call), all, 0.01 * all);
}

// The first bucket goes directly, and is not folded: not every rank has a chunk of it.
TEST(Fold, OfAStepIsAsLongAsAllRanks) {
  const WorldModel model = model_of({.host_count = 96}, all_costs());
  const Workload workload{
      .forward_seconds = 1e-3,
      .update_seconds = 1e-4,
      .gradients = {{"a", 500'000, 2e-3}, {"b", 3'000'000, 1e-3}, {"c", 1'000, 1e-4}}};
  StepOptions options;
  const StepPrediction folded = predict_step(model, workload, options);
  options.fold = Fold::kNever;
  const StepPrediction all = predict_step(model, workload, options);
  EXPECT_NEAR(folded.step_seconds, all.step_seconds, 0.01 * all.step_seconds);
}

TEST(Fold, MakesALargeRingSmall) {
  const WorldModel model = model_of({.host_count = 10'000}, all_costs());
  const Call call{.algorithm = Algorithm::kRing, .count = 160'000 * 5};
  CallRunner calls(model, Fold::kIfAlike);
  Clock clock(model);
  calls.run(call, clock);
  // Each of 2 · 9999 hops takes at least the latency.
  EXPECT_GT(clock.ranks.front(), 2 * 9999 * 30e-6);
  EXPECT_EQ(clock.ranks.front(), clock.ranks.back());
}

TEST(Fold, IsNeededForLargeWorlds) {
  const WorldModel model = model_of({.host_count = 10'000}, all_costs());
  CallRunner calls(model, Fold::kNever);
  Clock clock(model);
  const auto refusal = [&](Algorithm algorithm) -> std::string {
    try {
      calls.run({.algorithm = algorithm, .count = 160'000}, clock);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(Algorithm::kRing),
            "an all-reduce of 640000 bytes by ring on 10000 ranks takes more than 8388608 "
            "simulated steps, because few of its ranks are alike: choose another plan");
  EXPECT_EQ(refusal(Algorithm::kDirect),
            "an all-reduce of 640000 bytes by direct on 10000 ranks has a rank with more than "
            "4096 peers, which is too many to predict: choose another plan");
}

}  // namespace
}  // namespace rota::bench
