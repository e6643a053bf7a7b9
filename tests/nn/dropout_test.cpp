// Tests which units dropout drops, and by which factor the other units grow.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "nn/dropout.h"
#include "nn/host_math.h"

namespace rota::nn {
namespace {

constexpr std::size_t kUnits = 1001;

struct Draw {
  std::vector<std::uint64_t> identities = {5};
  std::uint64_t seed = 1;
  std::uint64_t step = 1;
  std::size_t position = 2;
  bool training = true;
};

// Returns the outputs for inputs that are all 1.
std::vector<float> outputs_of(const Draw& draw, double rate = 0.25) {
  Dropout<HostMath<float>> module({}, {1, 1, kUnits}, dropout(rate), draw.position);
  const std::size_t samples = draw.identities.size();
  module.reserve(samples);
  const std::vector<float> ones(samples * kUnits, 1.0F);
  std::vector<float> outputs(ones.size());
  const Pass pass = {.samples = samples,
                     .training = draw.training,
                     .identities = draw.identities,
                     .seed = draw.seed,
                     .step = draw.step};
  module.prepare(pass);
  module.forward(pass, ones.data(), outputs.data());
  return outputs;
}

TEST(Dropout, DropsItsShareAndScalesTheRest) {
  const float kept = 1 / 0.75F;
  std::size_t dropped = 0;
  const std::vector<float> outputs = outputs_of({.identities = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}});
  for (float output : outputs) {
    EXPECT_TRUE(output == 0 || output == kept) << output;
    if (output == 0) ++dropped;
  }
  EXPECT_NEAR(static_cast<double>(dropped) / static_cast<double>(outputs.size()), 0.25, 0.02);
}

// 16 bits decide about a unit, so its share is a multiple of 1/65536. The factor is that of the
// same share, or else the expected value would be 1.5 times too large at a rate of 0.99999.
TEST(Dropout, KeepsTheExpectedValueAtEveryRate) {
  const std::pair<double, float> factors[] = {{0.1, static_cast<float>(65536 / 58982.0)},
                                              {0.5, 2},
                                              {1e-6, 1},
                                              {0.99999, 65536},
                                              {0.9999999, 65536}};
  std::vector<std::uint64_t> identities(1000);
  std::iota(identities.begin(), identities.end(), std::uint64_t{0});
  for (const auto& [rate, factor] : factors) {
    float most = 0;
    for (const float output : outputs_of({.identities = identities}, rate)) {
      ASSERT_TRUE(output == 0 || output == factor) << output << " at a rate of " << rate;
      most = std::max(most, output);
    }
    EXPECT_EQ(most, factor) << "some units stay";
  }
}

TEST(Dropout, DependsOnTheSampleAndNotOnItsPlaceInTheBatch) {
  const std::vector<float> forward = outputs_of({.identities = {70, 80, 90}});
  const std::vector<float> backward = outputs_of({.identities = {90, 80, 70}});
  const std::vector<float> alone = outputs_of({.identities = {80}});
  for (std::size_t unit = 0; unit < kUnits; ++unit) {
    EXPECT_EQ(forward[unit], backward[2 * kUnits + unit]);
    EXPECT_EQ(forward[kUnits + unit], backward[kUnits + unit]);
    EXPECT_EQ(forward[kUnits + unit], alone[unit]);
  }
}

TEST(Dropout, DropsOtherUnitsForAnotherSampleStepSeedOrLayer) {
  const std::set<std::vector<float>> all = {
      outputs_of({}),
      outputs_of({.identities = {6}}),
      outputs_of({.identities = {5 + (std::uint64_t{1} << 32)}}),
      outputs_of({.step = 2}),
      outputs_of({.step = 1 + (std::uint64_t{1} << 32)}),
      outputs_of({.seed = 2}),
      outputs_of({.seed = 1 + (std::uint64_t{1} << 32)}),
      outputs_of({.position = 3}),
  };
  EXPECT_EQ(all.size(), 8U);
}

TEST(Dropout, LetsAllThroughWhenNotTrainingOrWhenItsRateIsZero) {
  const std::vector<float> ones(kUnits, 1.0F);
  EXPECT_EQ(outputs_of({.training = false}), ones);
  EXPECT_EQ(outputs_of({}, 0), ones);
}

TEST(Dropout, StopsTheGradientWhereItStoppedTheValue) {
  Dropout<HostMath<double>> module({}, {1, 1, kUnits}, dropout(0.5), 0);
  module.reserve(1);
  const std::vector<std::uint64_t> identities = {9};
  const Pass pass = {
      .samples = 1, .training = true, .identities = identities, .seed = 1, .step = 1};
  std::vector<double> values(kUnits, 1.0);
  module.prepare(pass);
  module.forward(pass, values.data(), values.data());
  std::vector<double> gradient(kUnits, 3.0);
  module.input_gradient(pass, {nullptr, nullptr, gradient.data(), gradient.data()});
  for (std::size_t unit = 0; unit < kUnits; ++unit) EXPECT_EQ(gradient[unit], 3 * values[unit]);
}

}  // namespace
}  // namespace rota::nn
