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
