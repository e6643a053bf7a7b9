// Tests the loss, its gradient, and which samples count as correct.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "nn/softmax_cross_entropy.h"

namespace rota::nn {
namespace {

TEST(SoftmaxCrossEntropy, IsTheNegativeLogarithmOfTheLabelsProbability) {
  // exp() of these logits is 1, 2 and 5, so the probabilities are eighths.
  const std::vector<double> logits = {0, std::log(2), std::log(5), 0, std::log(2), std::log(5)};
  const std::vector<std::uint8_t> labels = {2, 0};
  std::vector<double> gradient(6);
  const Score score = softmax_cross_entropy(logits.data(), 3, labels, gradient.data());
  EXPECT_NEAR(score.loss, -std::log(5.0 / 8) - std::log(1.0 / 8), 1e-14);
  EXPECT_EQ(score.correct, 1U);
  EXPECT_EQ(score.samples, 2U);
  const std::vector<double> expected = {0.125, 0.25, -0.375, -0.875, 0.25, 0.625};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(gradient[i], expected[i], 1e-15) << i;
}

TEST(SoftmaxCrossEntropy, StaysFiniteForHugeLogits) {
  const std::vector<float> logits = {3e38F, -3e38F, 1000.0F, 999.0F};
  const std::vector<std::uint8_t> labels = {0, 0};
  std::vector<float> gradient(4);
  const Score score = softmax_cross_entropy(logits.data(), 2, labels, gradient.data());
  EXPECT_NEAR(score.loss, std::log1p(std::exp(-1.0)), 1e-12);
  for (float value : gradient) EXPECT_TRUE(std::isfinite(value));
}

TEST(SoftmaxCrossEntropy, IsNotANumberIfALogitIsNot) {
  const std::vector<float> logits = {0.0F, std::numeric_limits<float>::quiet_NaN()};
  const std::vector<std::uint8_t> labels = {0};
  EXPECT_TRUE(std::isnan(softmax_cross_entropy<float>(logits.data(), 2, labels, nullptr).loss));
}

TEST(SoftmaxCrossEntropy, MayOverwriteTheLogits) {
  const std::vector<float> logits = {0.5F, -1.0F, 2.0F};
  const std::vector<std::uint8_t> labels = {1};
  std::vector<float> aside(3);
  std::vector<float> in_place = logits;
  const double loss = softmax_cross_entropy(logits.data(), 3, labels, aside.data()).loss;
  EXPECT_EQ(softmax_cross_entropy(in_place.data(), 3, labels, in_place.data()).loss, loss);
  EXPECT_EQ(in_place, aside);
}

}  // namespace
}  // namespace rota::nn
