// Tests the initial values of parameters.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bound_model.h"

namespace rota {
namespace {

using testing::BoundModel;

std::vector<Layer> small_net(Initializer initializer) {
  return {convolution(16, 5, initializer), relu(), dense(40, initializer), relu(),
          dense(10, initializer)};
}

constexpr ImageShape kColourImage = {12, 12, 3};

struct Moments {
  double mean = 0;
  double deviation = 0;
};

template <class T>
Moments moments_of(std::span<const T> values) {
  Moments moments;
  const auto count = static_cast<double>(values.size());
  for (T value : values) moments.mean += static_cast<double>(value) / count;
  double variance = 0;
  for (T value : values) {
    const double distance = static_cast<double>(value) - moments.mean;
    variance += distance * distance / count;
  }
  moments.deviation = std::sqrt(variance);
  return moments;
}

TEST(Initializer, DependsOnTheSeedAlone) {
  BoundModel<float> first(kColourImage, small_net(Initializer::kHe));
  BoundModel<float> second(kColourImage, small_net(Initializer::kHe), 3);
  first->initialize(11);
  second->initialize(12);
  EXPECT_FALSE(std::ranges::equal(first.values(0), second.values(0)));
  second->initialize(11);
  for (std::size_t i = 0; i < first.parameter_count(); ++i) {
    EXPECT_TRUE(std::ranges::equal(first.values(i), second.values(i))) << i;
  }
}

TEST(Initializer, GivesFloatsTheRoundedDoubles) {
  BoundModel<float> floats(kColourImage, small_net(Initializer::kGlorot));
  BoundModel<double> doubles(kColourImage, small_net(Initializer::kGlorot));
  floats->initialize(5);
  doubles->initialize(5);
  for (std::size_t i = 0; i < floats.parameter_count(); ++i) {
    EXPECT_TRUE(std::ranges::equal(floats.values(i), doubles.values(i), {}, {},
                                   [](double value) { return static_cast<float>(value); }));
  }
}

// With 92,160 draws, the mean and the deviation differ from the distribution's by a few
// thousandths. A normal distribution has 4.55 % of its values beyond two deviations.
TEST(Initializer, DrawsFromTheDistributionThatItPromises) {
  constexpr double kDenseInputs = 12 * 12 * 16;
  const struct {
    Initializer initializer;
    double convolution;
    double dense;
    double bias;
  } cases[] = {
      {Initializer::kHe, std::sqrt(2 / 75.0), std::sqrt(2 / kDenseInputs), 0},
      {Initializer::kGlorot, std::sqrt(2 / 475.0), std::sqrt(2 / (kDenseInputs + 40)), 0},
      {Initializer::kStandardNormal, 1, 1, 1},
  };
  for (const auto& test : cases) {
    BoundModel<double> model(kColourImage, small_net(test.initializer));
    model->initialize(1);
    const Moments filters = moments_of<double>(model.values(0));
    EXPECT_NEAR(filters.mean, 0, 0.1 * test.convolution);
    EXPECT_NEAR(filters.deviation, test.convolution, 0.1 * test.convolution);
    const std::span<double> weights = model.values(2);
    const Moments dense = moments_of<double>(weights);
    EXPECT_NEAR(dense.mean, 0, 0.02 * test.dense);
    EXPECT_NEAR(dense.deviation, test.dense, 0.02 * test.dense);
    const auto far = std::ranges::count_if(
        weights, [&](double value) { return std::abs(value) > 2 * test.dense; });
    EXPECT_NEAR(static_cast<double>(far) / static_cast<double>(weights.size()), 0.0455, 0.005);
    EXPECT_NEAR(moments_of<double>(model.values(3)).deviation, test.bias, 0.4 * test.bias);
  }
}

TEST(Initializer, DrawsEveryParameterAnew) {
  BoundModel<float> model({1, 1, 8}, {dense(8), dense(8)});
  model->initialize(1);
  EXPECT_FALSE(std::ranges::equal(model.values(0), model.values(2)));
}

}  // namespace
}  // namespace rota
