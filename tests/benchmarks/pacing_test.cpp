// Tests the pace of steps with a clock that the tests own: it moves only when a rank sleeps or
// waits. So all times are exact.
#include "scale/pacing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <rota/model.h>

#include "examples/mnist/models.h"
#include "turns.h"

namespace rota::bench {
namespace {

using base::Duration;
using base::TimePoint;
using std::chrono::milliseconds;
using testing::ElementsAre;

// In a step of 80 ms, a multiplication takes 1 ms: 30 forward, 40 + 10 backward.
constexpr LayerWork kLayers[] = {{100, 1, 10}, {200, 2, 20}};
constexpr ModelWork kWorkload{"two layers", kLayers, 1};

TEST(Pace, SharesTheTimeByMultiplications) {
  const Pace pace = pace_of(kWorkload, 0.080);
  EXPECT_EQ(pace.computing, milliseconds(80));
  EXPECT_EQ(pace.forward, milliseconds(30));
  EXPECT_THAT(pace.ready,
              ElementsAre(milliseconds(80), milliseconds(80), milliseconds(70), milliseconds(70)));
}

TEST(Pace, GrowsWithTheTimeOfTheStep) {
  const Pace pace = pace_of(kWorkload, 8);
  EXPECT_EQ(pace.computing, milliseconds(8000));
  EXPECT_EQ(pace.ready.back(), milliseconds(7000));
}

TEST(LeastStep, IsTheComputingIfBytesTakeNoTime) {
  const std::vector<std::size_t> counts = gradient_counts(kWorkload);
  EXPECT_DOUBLE_EQ(least_step_seconds(pace_of(kWorkload, 0.080), counts, 0), 0.080);
}

TEST(LeastStep, LetsNoGradientLeaveBeforeItIsFinal) {
  const std::vector<std::size_t> counts = gradient_counts(kWorkload);
  const Pace pace = pace_of(kWorkload, 0.080);
  // The first layer has 404 bytes, which leave after 80 ms. All layers have 1212 bytes, the first
  // of which leave after 70 ms.
  EXPECT_DOUBLE_EQ(least_step_seconds(pace, counts, 1e-6), 0.080 + 404e-6);
  EXPECT_DOUBLE_EQ(least_step_seconds(pace, counts, 1e-3), 0.070 + 1212e-3);
}

TEST(SecondsOfAByte, CountWhatAHostMustSend) {
  EXPECT_DOUBLE_EQ(seconds_of_a_byte(1, 100), 0) << "one host sends nothing";
  EXPECT_DOUBLE_EQ(seconds_of_a_byte(2, 8), 1e-6 * 1514 / 1448);
  EXPECT_DOUBLE_EQ(seconds_of_a_byte(4, 8), 1.5e-6 * 1514 / 1448);
}

// Each sleep ends late by `late`.
struct SleepyClock {
  TimePoint now{};
  Duration late{};
  std::vector<Duration> wanted{};  // The ends of the sleeps that were asked for.

  PacingClock face() {
    return {[this] { return now; },
            [this](TimePoint time) {
              wanted.push_back(time.time_since_epoch());
              now = std::max(now, time) + late;
            }};
  }
};

// Waits of a given length. Writes down the gradients in the order in which they were announced.
struct SlowSums final : Sums {
  SlowSums(SleepyClock& of, Duration length) : clock(of), wait_length(length) {}

  std::span<float> gradient(std::size_t) override { return {}; }
  void begin() override { begun.push_back(clock.now.time_since_epoch()); }
  void ready(std::size_t index) override { announced.push_back(index); }
  void wait() override { clock.now += wait_length; }

  SleepyClock& clock;
  Duration wait_length;
  std::vector<Duration> begun{};
  std::vector<std::size_t> announced{};
};

// A step of training sends its numbers of samples when the forward pass has ended.
TEST(PacedRank, BeginsAfterTheForwardPassAndAnnouncesTheLastGradientFirst) {
  SleepyClock clock;
  SlowSums sums(clock, {});
  PacedRank rank(pace_of(kWorkload, 0.080), clock.face());
  rank.start();
  rank.step(&sums);
  EXPECT_THAT(sums.begun, ElementsAre(milliseconds(30)));
  EXPECT_THAT(sums.announced, ElementsAre(3, 2, 1, 0));
  EXPECT_THAT(clock.wanted, ElementsAre(milliseconds(30), milliseconds(70), milliseconds(70),
                                        milliseconds(80), milliseconds(80)));
}

TEST(PacedRank, DoesNotAddUpTheErrorsOfItsSleeps) {
  SleepyClock clock{.late = milliseconds(3)};
  PacedRank rank(pace_of(kWorkload, 0.080), clock.face());
  rank.start();
  for (int step = 0; step < 100; ++step) rank.step(nullptr);
  // Two sleeps follow the last moment of the 100 steps: the clock is late by these two alone.
  EXPECT_EQ(clock.now.time_since_epoch(), milliseconds(100 * 80 + 2 * 3));
  EXPECT_EQ(clock.wanted.back(), milliseconds(100 * 80));
  EXPECT_DOUBLE_EQ(rank.waited_seconds(), 0);
}

TEST(PacedRank, IsDelayedByTheTimeThatItWaitsForSumsAlone) {
  SleepyClock clock{.late = milliseconds(1)};
  SlowSums sums(clock, milliseconds(20));
  PacedRank rank(pace_of(kWorkload, 0.080), clock.face());
  rank.start();
  for (int step = 0; step < 10; ++step) rank.step(&sums);
  EXPECT_EQ(clock.wanted.back(), milliseconds(9 * (80 + 20) + 80));
  EXPECT_DOUBLE_EQ(rank.waited_seconds(), 10 * 0.020);
}

TEST(PacedRank, StartsAnewWhenItIsTold) {
  SleepyClock clock;
  PacedRank rank(pace_of(kWorkload, 0.080), clock.face());
  rank.start();
  rank.step(nullptr);
  clock.now += milliseconds(1000);
  rank.start();
  rank.step(nullptr);
  EXPECT_EQ(clock.wanted.back(), milliseconds(80 + 1000 + 80));
}

TEST(Turns, BeginWithTheNextContestantInEachRound) {
  std::string order;
  std::vector<double> first;
  std::vector<double> second;
  double shown = 0;
  const auto note = [&order](char name) {
    return [&order, name](std::size_t steps) { order += name + std::to_string(steps); };
  };
  const Contestant contestants[] = {{note('a'), &first}, {note('b'), &second}};
  const AllRanks ranks{[&order] { order += '|'; }, [&shown](double) { return ++shown; }};
  take_turns(ranks, contestants, 5, 3);
  EXPECT_EQ(order, "a1b1|a5|b5|b5|a5|a5|b5") << "a step of each warms up";
  EXPECT_THAT(first, ElementsAre(1, 4, 5));
  EXPECT_THAT(second, ElementsAre(2, 3, 6));
}

TEST(ModelWork, HasTheGradientsOfTheExample) {
  for (const std::string name : {"lenet", "mlp"}) {
    std::vector<std::size_t> counts;
    const Model<float> model({28, 28, 1}, layers_of(name, 10));
    for (const ParameterInfo& parameter : model.parameters()) counts.push_back(parameter.count());
    EXPECT_EQ(gradient_counts(model_work_named(name)), counts) << name;
  }
}

TEST(ModelWork, IsRefusedByNameIfThereIsNone) {
  std::string refusal;
  try {
    model_work_named("resnet");
  } catch (const std::invalid_argument& error) {
    refusal = error.what();
  }
  EXPECT_EQ(refusal, "--model: there is no workload 'resnet'; the workloads are lenet and mlp");
}

}  // namespace
}  // namespace rota::bench
