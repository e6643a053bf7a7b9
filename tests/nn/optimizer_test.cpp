// Compares optimizers with the same steps computed by hand, or with the formulas of the paper.
#include <gtest/gtest.h>
#include <rota/error.h>
#include <rota/optimizer.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "kernels/optimizers.h"
#include "testing/error_of.h"

namespace rota {
namespace {

template <class T>
class OptimizerTest : public ::testing::Test {};

using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(OptimizerTest, Types);

template <class T>
Optimizer<T> make(const OptimizerOptions& options, const std::vector<std::size_t>& counts) {
  return Optimizer<T>(options, counts);
}

// All factors are powers of two and all values are small integers, so no operation rounds.
TYPED_TEST(OptimizerTest, SgdFollowsTheGradientWithMomentumAndDecay) {
  using T = TypeParam;
  Optimizer<T> optimizer =
      make<T>(Sgd{.learning_rate = 0.5, .momentum = 0.25, .weight_decay = 0.125}, {1, 2});
  std::vector<T> values = {8, -16};
  const std::vector<T> gradient = {4, 8};
  optimizer.begin_step();
  optimizer.update(1, values, gradient, T{0.5F});
  EXPECT_EQ(values, (std::vector<T>{T{6.5F}, -17}));  // Velocities are 3 and 2.
  optimizer.begin_step();
  optimizer.update(1, values, gradient, T{0.5F});
  EXPECT_EQ(values, (std::vector<T>{T{4.71875F}, T{-18.1875F}}));

  std::vector<T> other = {8};
  optimizer.update(0, other, std::vector<T>{4}, T{0.5F});
  EXPECT_EQ(other[0], T{6.5F}) << "parameters have velocities of their own";
}

TYPED_TEST(OptimizerTest, AdamFollowsItsAuthorsAlgorithm) {
  using T = TypeParam;
  const Adam adam = {.learning_rate = 0.01, .beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.1};
  constexpr std::size_t kCount = 37;
  Optimizer<T> optimizer = make<T>(adam, {kCount});
  std::vector<T> values(kCount);
  std::vector<double> expected(kCount);
  std::vector<double> mean(kCount);
  std::vector<double> mean_square(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    expected[i] = static_cast<double>(i) / 8 - 2;
    values[i] = static_cast<T>(expected[i]);
  }
  for (int step = 1; step <= 5; ++step) {
    std::vector<T> gradient(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      gradient[i] = static_cast<T>((static_cast<int>(i) * step) % 7 - 3);
      const double g = static_cast<double>(gradient[i]) * 0.25 + 0.1 * expected[i];
      mean[i] = 0.8 * mean[i] + 0.2 * g;
      mean_square[i] = 0.95 * mean_square[i] + 0.05 * g * g;
      const double unbiased_mean = mean[i] / (1 - std::pow(0.8, step));
      const double unbiased_square = mean_square[i] / (1 - std::pow(0.95, step));
      expected[i] -= 0.01 * unbiased_mean / (std::sqrt(unbiased_square) + 1e-8);
    }
    optimizer.begin_step();
    optimizer.update(0, values, gradient, T{0.25F});
    const double tolerance = sizeof(T) == sizeof(float) ? 1e-5 : 1e-13;
    for (std::size_t i = 0; i < kCount; ++i) {
      EXPECT_NEAR(static_cast<double>(values[i]), expected[i], tolerance)
          << "step " << step << ", at " << i;
    }
  }
}

// Writes the count of steps, as a checkpoint does.
class StepWriter final : public StateVisitor {
 public:
  explicit StepWriter(std::uint64_t step) : step_(step) {}
  void visit_fact(const StatePiece&, const std::string&) override {}
  void visit_counter(const StatePiece&, std::uint64_t& value) override { value = step_; }
  void visit_tensor(const StatePiece&, std::span<const std::size_t>, Values) override {}

 private:
  std::uint64_t step_;
};

// Ranks with several C libraries must have the same weights, and no two libraries need agree on
// the last bits of std::pow. Method: the first beta is 0, so a step shows the power of the second.
TEST(Adam, MultipliesItsBetasInAnOrderOfItsOwn) {
  const double beta = 0.999;
  const std::vector<std::size_t> counts = {1};
  const std::vector<ParameterInfo> parameters = {{.name = "a", .shape = {1}}};
  for (const std::uint64_t step : {1, 2, 3, 10, 11, 999, 1'000'000}) {
    Optimizer<double> optimizer(Adam{.learning_rate = 1, .beta1 = 0, .beta2 = beta}, counts);
    StepWriter writer(step - 1);
    optimizer.visit_state(writer, parameters);
    std::vector<double> values = {0};
    optimizer.begin_step();
    optimizer.update(0, values, std::vector<double>{1}, 1);
    double power = 1;
    double square = beta;
    for (int bit = 0; bit < 20; ++bit) {
      if ((step >> bit & 1) != 0) power *= square;
      square *= square;
    }
    EXPECT_NEAR(power, std::pow(beta, static_cast<double>(step)), 1e-13);
    EXPECT_EQ(values[0], -1 / (std::sqrt((1 - beta) * (1 / (1 - power))) + 1e-8)) << step;
  }
}

TYPED_TEST(OptimizerTest, TakesTheKernelsThatAreAskedFor) {
  using T = TypeParam;
  const std::vector<std::size_t> counts = {3};
  EXPECT_EQ(Optimizer<T>(Sgd{}, counts).variant(),
            kernels::select<kernels::Optimizers>().variant->name);
  for (const kernels::Optimizers* row : kernels::Optimizers::table()) {
    if (!row->variant->supported()) continue;
    EXPECT_EQ(Optimizer<T>(Adam{}, counts, row->variant->name).variant(), row->variant->name);
  }
  const auto refused = testing::error_of([&] { Optimizer<T>(Sgd{}, counts, "abacus"); });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code(), ErrorCode::kInvalidArgument);
}

std::string refusal_of_options(const OptimizerOptions& options) {
  try {
    make<float>(options, {1});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "nothing";
}

TEST(OptimizerOptions, OutsideTheirRangesAreRefused) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal_of_options(Sgd{.learning_rate = -1}),
            "learning_rate is -1; it must be finite and not negative");
  EXPECT_EQ(refusal_of_options(Sgd{.learning_rate = kNaN}),
            "learning_rate is nan; it must be finite and not negative");
  EXPECT_EQ(refusal_of_options(Sgd{.momentum = 0.99999999}),
            "momentum is 0.99999999; it must be below 1 after rounding to float32");
  EXPECT_EQ(refusal_of_options(Adam{.beta2 = 0.99999999}),
            "beta2 is 0.99999999; it must be below 1 after rounding to float32");
  EXPECT_EQ(refusal_of_options(Adam{.epsilon = 1e-50}),
            "epsilon is 1e-50; it must be above 0 after rounding to float32");
  const std::vector<std::size_t> counts = {1};
  const Adam fine_in_double = {.beta2 = 0.99999999, .epsilon = 1e-50};
  EXPECT_EQ(Optimizer<double>(fine_in_double, counts).kept_count(), 2U);
  EXPECT_EQ(refusal_of_options(Sgd{.momentum = 1}),
            "momentum is 1; it must be at least 0 and below 1");
  EXPECT_EQ(refusal_of_options(Sgd{.weight_decay = kInfinity}),
            "weight_decay is inf; it must be finite and not negative");
  EXPECT_EQ(refusal_of_options(Adam{.learning_rate = kInfinity}),
            "learning_rate is inf; it must be finite and not negative");
  EXPECT_EQ(refusal_of_options(Adam{.beta1 = 1.5}),
            "beta1 is 1.5; it must be at least 0 and below 1");
  EXPECT_EQ(refusal_of_options(Adam{.beta2 = -0.1}),
            "beta2 is -0.1; it must be at least 0 and below 1");
  EXPECT_EQ(refusal_of_options(Adam{.epsilon = 0}), "epsilon is 0; it must be finite and above 0");
  EXPECT_EQ(refusal_of_options(Adam{.weight_decay = -1}),
            "weight_decay is -1; it must be finite and not negative");
  EXPECT_EQ(refusal_of_options(Sgd{.momentum = 1.0000001}),
            "momentum is 1.0000001; it must be at least 0 and below 1");
  EXPECT_EQ(refusal_of_options(Sgd{}), "nothing");
  EXPECT_EQ(refusal_of_options(Adam{}), "nothing");
}

}  // namespace
}  // namespace rota
