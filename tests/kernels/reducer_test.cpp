// Tests the result after the values of all ranks were combined one after the other, as along a
// ring: with the scaling before the first addition and after the last one, and with rounding at
// each hop.
#include "collectives/reducer.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "kernels/reference.h"

namespace rota::collectives {
namespace {

using kernels::Reductions;
using kernels::testing::bytes_at;
using kernels::testing::supported;

constexpr std::size_t kCount = 37;  // Copies of every value: whole vectors and a tail.

// Method: rank 0's value is combined with each other rank's value in turn, as along a ring.
template <class T>
T reduced(const Reductions& reductions, const Reduction& reduction,
          const std::vector<T>& of_ranks) {
  const Reducer reducer(reductions, data_type_of<T>(), reduction, of_ranks.size());
  EXPECT_EQ(reducer.element_bytes(), sizeof(T));
  std::vector<T> accumulator(kCount, of_ranks.front());
  reducer.pre_scale(bytes_at(accumulator), kCount);
  for (std::size_t rank = 1; rank < of_ranks.size(); ++rank) {
    std::vector<T> input(kCount, of_ranks[rank]);
    reducer.pre_scale(bytes_at(input), kCount);
    reducer.add(bytes_at(accumulator), bytes_at(input), kCount, rank + 1 == of_ranks.size());
  }
  for (const T value : accumulator) {
    EXPECT_TRUE(kernels::testing::same(value, accumulator.front())) << reductions.variant->name;
  }
  return accumulator.back();
}

TEST(Reducer, AddsMultipliesAndFindsTheEnds) {
  for (const Reductions* reductions : supported<Reductions>()) {
    const std::vector<double> values = {3, -5, 7, 2};
    EXPECT_EQ(reduced(*reductions, ReduceOp::kSum, values), 7);
    EXPECT_EQ(reduced(*reductions, ReduceOp::kMean, values), 1.75);
    EXPECT_EQ(reduced(*reductions, ReduceOp::kProduct, values), -210);
    EXPECT_EQ(reduced(*reductions, ReduceOp::kMin, values), -5);
    EXPECT_EQ(reduced(*reductions, ReduceOp::kMax, values), 7);
  }
}

TEST(Reducer, WrapsIntegers) {
  using std::int32_t;
  using std::int64_t;
  using std::int8_t;
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  constexpr int64_t kMost64 = std::numeric_limits<int64_t>::max();
  for (const Reductions* reductions : supported<Reductions>()) {
    EXPECT_EQ(reduced<int8_t>(*reductions, ReduceOp::kSum, {100, 100, 100}), 300 - 256);
    EXPECT_EQ(reduced<std::uint8_t>(*reductions, ReduceOp::kProduct, {16, 17}), 16);
    EXPECT_EQ(reduced<int32_t>(*reductions, ReduceOp::kSum, {kMost, 1}), -kMost - 1);
    EXPECT_EQ(reduced<int32_t>(*reductions, ReduceOp::kProduct, {-kMost - 1, -1}), -kMost - 1);
    EXPECT_EQ(reduced<int64_t>(*reductions, ReduceOp::kSum, {kMost64, 2}), -kMost64);
    EXPECT_EQ(reduced<int64_t>(*reductions, ReduceOp::kProduct, {kMost64, kMost64}), 1);
  }
}

TEST(Reducer, TakesBitsOneByOne) {
  for (const Reductions* reductions : supported<Reductions>()) {
    const std::vector<std::uint8_t> values = {0b1100, 0b1010, 0b1001};
    EXPECT_EQ(reduced(*reductions, ReduceOp::kBitAnd, values), 0b1000);
    EXPECT_EQ(reduced(*reductions, ReduceOp::kBitOr, values), 0b1111);
    EXPECT_EQ(reduced(*reductions, ReduceOp::kBitXor, values), 0b1111);
  }
}

TEST(Reducer, MultipliesAMeanByTheRoundedReciprocal) {
  for (const Reductions* reductions : supported<Reductions>()) {
    EXPECT_EQ(reduced<float>(*reductions, ReduceOp::kMean, {1, 2, 2}), 5.0F * (1.0F / 3.0F));
    EXPECT_EQ(reduced<double>(*reductions, ReduceOp::kMean, {1, 2, 2}), 5.0 * (1.0 / 3.0));
  }
}

// Rounding happens at each hop, not at the end: each hop rounds 2048 + 1 to 2048. If all values
// were summed before rounding, the sum would be 2050.
TEST(Reducer, RoundsSixteenBitSumsOnceAHop) {
  for (const Reductions* reductions : supported<Reductions>()) {
    const std::vector<Float16> halves = {Float16(2048.0F), Float16(1.0F), Float16(1.0F)};
    EXPECT_EQ(static_cast<float>(reduced(*reductions, ReduceOp::kSum, halves)), 2048.0F);
    const std::vector<Bfloat16> brains = {Bfloat16(256.0F), Bfloat16(1.0F), Bfloat16(1.0F)};
    EXPECT_EQ(static_cast<float>(reduced(*reductions, ReduceOp::kSum, brains)), 256.0F);
  }
}

// Adds in the order of reduced(), and rounds each sum but the last. Nothing is scaled on the way.
float mean_by_hand(const std::vector<float>& of_ranks) {
  Float16 sum(of_ranks.front());
  for (std::size_t rank = 1; rank + 1 < of_ranks.size(); ++rank) {
    sum = Float16(static_cast<float>(sum) + static_cast<float>(Float16(of_ranks[rank])));
  }
  const float last = static_cast<float>(Float16(of_ranks.back()));
  const float factor = 1.0F / static_cast<float>(of_ranks.size());
  return static_cast<float>(Float16((static_cast<float>(sum) + last) * factor));
}

float mean_of_halves(const Reductions& reductions, const std::vector<float>& of_ranks) {
  const std::vector<Float16> halves(of_ranks.begin(), of_ranks.end());
  return static_cast<float>(reduced(reductions, ReduceOp::kMean, halves));
}

// The sum of 63 ranks is rounded to Float16, whose largest number is 65504.
TEST(Reducer, KeepsAMeanOfFloat16Finite) {
  for (const Reductions* reductions : supported<Reductions>()) {
    for (const std::size_t n : {2, 3, 5, 64, 65}) {
      for (const float value : {60000.0F, -60000.0F, 65504.0F}) {
        const float mean = mean_of_halves(*reductions, std::vector<float>(n, value));
        EXPECT_NEAR(mean / value, 1, 0.01) << n << " ranks, " << value;
      }
    }
    EXPECT_EQ(mean_of_halves(*reductions, {60000, 60000, 60000}), 60000);
  }
}

// The scaling is by a power of two, so it changes no bit of values that stay normal numbers.
TEST(Reducer, GivesAMeanOfFloat16TheBitsOfAnUnscaledOne) {
  for (const Reductions* reductions : supported<Reductions>()) {
    for (const std::size_t n : {2, 3, 5, 8, 64, 65}) {
      std::vector<float> values;
      for (std::size_t i = 0; i < n; ++i) values.push_back(0.1F * static_cast<float>(i % 7 + 1));
      EXPECT_EQ(mean_of_halves(*reductions, values), mean_by_hand(values)) << n;
    }
  }
}

// With 64 ranks, values are first rounded to multiples of 2^-18. With two, nothing is scaled.
TEST(Reducer, RoundsSmallValuesOfAMeanOfFloat16) {
  for (const Reductions* reductions : supported<Reductions>()) {
    const auto mean_of_all = [&](std::size_t n, float value) {
      return mean_of_halves(*reductions, std::vector<float>(n, value));
    };
    EXPECT_EQ(mean_of_all(64, 1e-5F), 3 * 0x1p-18F);
    EXPECT_EQ(mean_of_all(64, 1e-6F), 0);
    EXPECT_EQ(mean_of_all(2, 1e-5F), static_cast<float>(Float16(1e-5F)));
    EXPECT_EQ(mean_of_all(2, 0x1p-24F), 0x1p-24F);
  }
}

TEST(Reducer, ScalesOnlyMeansOfFloat16) {
  for (const Reductions* reductions : supported<Reductions>()) {
    const auto of = [&](DataType type, ReduceOp op, std::size_t n, bool stores_sum = false) {
      return Reducer(*reductions, type, op, n, stores_sum);
    };
    EXPECT_EQ(of(DataType::kFloat16, ReduceOp::kMean, 64).pre_factor(), 1.0 / 64);
    EXPECT_EQ(of(DataType::kFloat16, ReduceOp::kMean, 64).mean_factor(), 1);
    EXPECT_EQ(of(DataType::kFloat16, ReduceOp::kMean, 3).pre_factor(), 0.5);
    EXPECT_FALSE(of(DataType::kFloat16, ReduceOp::kMean, 2).needs_pre_scale());
    EXPECT_FALSE(of(DataType::kFloat16, ReduceOp::kMean, 1).needs_pre_scale());
    EXPECT_FALSE(of(DataType::kFloat16, ReduceOp::kSum, 64).needs_pre_scale());
    for (const DataType type : {DataType::kBfloat16, DataType::kFloat32, DataType::kFloat64}) {
      EXPECT_FALSE(of(type, ReduceOp::kMean, 64).needs_pre_scale());
      EXPECT_EQ(of(type, ReduceOp::kMean, 64).mean_factor(), 1.0 / 64);
    }
    // The sum of all ranks is rounded too.
    EXPECT_EQ(of(DataType::kFloat16, ReduceOp::kMean, 2, true).pre_factor(), 0.5);
    EXPECT_EQ(of(DataType::kFloat16, ReduceOp::kMean, 2, true).mean_factor(), 1);
    EXPECT_FALSE(of(DataType::kFloat16, ReduceOp::kMean, 1, true).needs_pre_scale());
  }
}

TEST(Reducer, PropagatesNaNAndOrdersZeros) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Reductions* reductions : supported<Reductions>()) {
    for (const ReduceOp op : {ReduceOp::kMin, ReduceOp::kMax, ReduceOp::kSum, ReduceOp::kProduct}) {
      EXPECT_TRUE(std::isnan(reduced<float>(*reductions, op, {1, nan, 2})));
      EXPECT_TRUE(std::isnan(reduced<float>(*reductions, op, {nan, 1, 2})));
    }
    EXPECT_TRUE(std::signbit(reduced<float>(*reductions, ReduceOp::kMin, {0.0F, -0.0F})));
    EXPECT_TRUE(std::signbit(reduced<float>(*reductions, ReduceOp::kMin, {-0.0F, 0.0F})));
    EXPECT_FALSE(std::signbit(reduced<float>(*reductions, ReduceOp::kMax, {0.0F, -0.0F})));
    EXPECT_FALSE(std::signbit(reduced<float>(*reductions, ReduceOp::kMax, {-0.0F, 0.0F})));
  }
}

TEST(Reducer, ScalesBeforeItAddsOnlyIfAskedTo) {
  for (const Reductions* reductions : supported<Reductions>()) {
    const Reduction quarter = Reduction::pre_scaled_sum(0.25);
    EXPECT_EQ(reduced<float>(*reductions, quarter, {4, 8, -4}), 2);
    // If the values were not scaled first, the sum would become infinite on the way.
    EXPECT_EQ(
        static_cast<float>(reduced<Float16>(
            *reductions, quarter, {Float16(60000.0F), Float16(60000.0F), Float16(-60000.0F)})),
        15000.0F);
    EXPECT_TRUE(Reducer(*reductions, DataType::kFloat32, quarter, 2).needs_pre_scale());
    EXPECT_FALSE(Reducer(*reductions, DataType::kFloat32, ReduceOp::kSum, 2).needs_pre_scale());
    EXPECT_FALSE(Reducer(*reductions, DataType::kFloat32, Reduction::pre_scaled_sum(1), 2)
                     .needs_pre_scale());
    EXPECT_FALSE(Reducer(*reductions, DataType::kInt32, ReduceOp::kSum, 2).needs_pre_scale());
  }
}

}  // namespace
}  // namespace rota::collectives
