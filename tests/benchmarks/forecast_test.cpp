// Tests how a validation predicts its points. Method: costs are made up, so times are known.
#include "validate/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "predict/world.h"
#include "scale/workload.h"
#include "validate/paced_workload.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;
using ::testing::HasSubstr;

constexpr double kByte = 8e-8;  // At 100 Mbit/s.

Calibration made_up(const std::string& transport) {
  Calibration calibration{.machine = "m", .transport = transport};
  const Link link{.latency_seconds = 1e-4, .busy_seconds = 1e-5, .seconds_per_byte = kByte};
  calibration.costs = {.within_host = link, .between_hosts = link};
  calibration.costs.reduce_seconds_per_byte = 1e-15;  // A file cannot say 0.
  return calibration;
}

// Returns a basis with so many cores that ranks never wait for one.
ForecastBasis basis_of_many_cores() {
  return {.folder = "costs",
          .calibrations = {{{100, 1}, made_up("tcp")}, {{100, 2}, made_up("shm+tcp")}},
          .machine = "m",
          .cores = 1000};
}

ValidationPoint ring_point(std::size_t hosts, std::size_t bytes) {
  return {.world = {.megabits = 100, .hosts = hosts, .ranks_per_host = 1},
          .plan = Algorithm::kRing,
          .bytes = bytes};
}

TEST(Forecast, IsTheTimeOfACall) {
  const WorldModel model = model_of({.host_count = 4}, made_up("tcp").costs);
  const Forecast call = forecast(ring_point(4, 64 << 10), basis_of_many_cores());
  EXPECT_NEAR(call.seconds, predict(model, Algorithm::kRing, 64 << 10), 1e-9);
  EXPECT_NEAR(call.cable_seconds, 1.5 * kByte * (64 << 10), 1e-9);
}

// A shaper lets the bytes of one call pass at once. It does not do so for each of several calls.
TEST(Forecast, OfRepeatedCallsIsNotFasterThanTheRate) {
  ForecastBasis basis = basis_of_many_cores();
  basis.burst_bytes = 128 << 10;
  constexpr std::size_t kBytes = 100 << 10;
  const double seconds = forecast(ring_point(2, kBytes), basis).seconds;
  EXPECT_GT(seconds, 0.9 * kByte * kBytes);
  EXPECT_LE(seconds, kByte * kBytes + 2e-4);
}

TEST(Forecast, IsAtLeastTheWorkOfAllRanksOnTheirCores) {
  ForecastBasis basis = basis_of_many_cores();
  const double alone = forecast(ring_point(8, 512), basis).seconds;
  EXPECT_NEAR(alone, 14 * (1e-4 + 64 * kByte), 1e-9);  // 14 hops.
  basis.cores = 1;
  // Each of 8 ranks sends 14 messages and takes 14, for 10 µs each.
  EXPECT_NEAR(forecast(ring_point(8, 512), basis).seconds, 8 * 28 * 1e-5, 1e-9);
}

TEST(Forecast, OfStepsHasTheirBytesAndTheirComputing) {
  const ValidationPoint point{.world = {.megabits = 100, .hosts = 4, .ranks_per_host = 2},
                              .model = "mlp"};
  const Forecast step = forecast(point, basis_of_many_cores());
  // 669,706 gradients; rank 0's host sends and receives at least 1.5 times their bytes.
  EXPECT_GE(step.cable_seconds, 1.5 * kByte * 4 * 669'706);
  EXPECT_GT(step.seconds, step.cable_seconds);
  EXPECT_GT(step.seconds, 100 / 37'000.0);
}

TEST(Forecast, TakesHalfAsLongWithHalfOfTheLatency) {
  ForecastBasis basis = basis_of_many_cores();
  Link& link = basis.calibrations.at({100, 1}).costs.between_hosts;
  link.seconds_per_byte = 1e-13;
  const ValidationPoint point = ring_point(8, 1024);
  EXPECT_NEAR(forecast(point, with_half_latency(basis)).seconds, forecast(point, basis).seconds / 2,
              1e-9);
}

std::string refused_forecast(const ForecastBasis& basis) {
  try {
    forecast(ring_point(2, 1024), basis);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Forecast, RefusesCostsThatAreOfOtherRanks) {
  ForecastBasis basis = basis_of_many_cores();
  basis.machine = "n";
  EXPECT_THAT(refused_forecast(basis), HasSubstr("costs/100-1 was measured on 'm'"));
  basis = basis_of_many_cores();
  basis.calibrations.at({100, 1}).transport = "shm";
  EXPECT_THAT(refused_forecast(basis), HasSubstr("costs/100-1 was measured over shm"));
  basis.calibrations.clear();
  EXPECT_EQ(refused_forecast(basis), "there is no calibration costs/100-1");
}

// Writes a calibration to the file 100-1 of a folder, and reads it.
Calibrations written_and_read(const Calibration& calibration) {
  const std::string folder = ::testing::TempDir() + "calibrations_of_forecasts";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/100-1") << to_text(calibration);
  return read_calibrations(folder, {ring_point(2, 1024), ring_point(8, 1024)});
}

TEST(ReadCalibrations, TakesTheFileOfEachWorld) {
  const Calibrations read = written_and_read(made_up("tcp"));
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read.at({100, 1}).transport, "tcp");
}

TEST(ReadCalibrations, RefusesAFileThatIsNotOfTwoHosts) {
  Calibration calibration = made_up("shm");
  calibration.costs.between_hosts = {};
  try {
    written_and_read(calibration);
    ADD_FAILURE() << "one host has no costs between hosts";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("/100-1 has no line 'between-hosts'"));
  }
  EXPECT_THROW(read_calibrations("no such folder", {ring_point(2, 4)}), std::invalid_argument);
}

TEST(PacedWorkload, HasTheGradientsWhenThePacedStepHasThem) {
  const ScaleOptions options{.model = "lenet", .scaling = Scaling::kStrong, .batch_size = 240};
  const Pace pace = pace_of_a_rank(options, 6);
  const Workload workload = paced_workload(options, 6);
  EXPECT_NEAR(alone_seconds_of(workload), 40 / 2650.0, 1e-8);
  EXPECT_EQ(gradient_bytes_of(workload), 6'653'480u);
  ASSERT_EQ(workload.gradients.size(), pace.ready.size());
  // A third of the multiplications, since the first layer needs no gradient of its input.
  EXPECT_GT(workload.forward_seconds, alone_seconds_of(workload) / 3);
  EXPECT_LT(workload.forward_seconds, base::to_seconds(pace.ready.back()));
  double passed = workload.forward_seconds;
  for (std::size_t index = pace.ready.size(); index-- > 0;) {
    passed += workload.gradients[index].seconds;
    EXPECT_NEAR(passed, base::to_seconds(pace.ready[index]), 1e-9) << index;
  }
}

}  // namespace
}  // namespace rota::bench
