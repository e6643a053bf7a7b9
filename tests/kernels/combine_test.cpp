// Compares every type, operation and variant with a reference that is computed in another way. The
// tests use every awkward count and alignment, and values that an operation could get wrong.
#include <gtest/gtest.h>

#include <string>

#include "kernels/reductions.h"
#include "kernels/reference.h"

namespace rota::kernels::testing {
namespace {

constexpr std::size_t kGuardElements = 67;  // Elements on both sides that no kernel may touch.
constexpr double kFactor = 1.0F / 3.0F;     // The factor of a mean of three ranks.

constexpr ReduceOp kOps[] = {ReduceOp::kSum,   ReduceOp::kMean,  ReduceOp::kProduct,
                             ReduceOp::kMin,   ReduceOp::kMax,   ReduceOp::kBitAnd,
                             ReduceOp::kBitOr, ReduceOp::kBitXor};

template <class T>
class CombineTest : public ::testing::Test {};

using ReducedTypes = ::testing::Types<Float16, Bfloat16, float, double, std::int8_t, std::uint8_t,
                                      std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(CombineTest, ReducedTypes);

std::string title_of(const Reductions& reductions, ReduceOp op, std::size_t count,
                     std::size_t shift) {
  return std::string(reductions.variant->name) + ", " + std::string(to_string(op)) + ", count " +
         std::to_string(count) + ", shift " + std::to_string(shift);
}

// Method: the values begin `shift` elements after an aligned address, inside a longer array, and
// the two inputs are aligned differently. The elements around the values must not change.
template <class T>
void expect_reference(const Reductions& reductions, ReduceOp op, std::size_t count,
                      std::size_t shift) {
  SCOPED_TRACE(title_of(reductions, op, count, shift));
  const std::size_t begin = kGuardElements + shift;
  const std::vector<T> before = any_values<T>(begin + count + kGuardElements, 1);
  const std::vector<T> input = any_values<T>(count + 1, 2);
  std::vector<T> values = before;
  reductions.combine(data_type_of<T>(), op)(bytes_at(values, begin), bytes_at(input, 1), count,
                                            kFactor);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool inside = i >= begin && i < begin + count;
    const T expected =
        inside ? expected_of(op, before[i], input[i - begin + 1], kFactor) : before[i];
    ASSERT_TRUE(same(values[i], expected))
        << "at " << i << ": " << to_double(values[i]) << ", not " << to_double(expected);
  }
}

// Method: the same for a kernel with two outputs. The kernel writes the first output over the first
// input.
template <class T>
void expect_reference_in_both(const Reductions& reductions, ReduceOp op, std::size_t count,
                              std::size_t shift) {
  SCOPED_TRACE(title_of(reductions, op, count, shift));
  const std::size_t begin = kGuardElements + shift;
  const std::vector<T> before = any_values<T>(begin + count + kGuardElements, 1);
  const std::vector<T> other_before = any_values<T>(count + 2, 3);
  const std::vector<T> input = any_values<T>(count + 1, 2);
  std::vector<T> values = before;
  std::vector<T> other = other_before;
  reductions.combine_to_both(data_type_of<T>(), op)(bytes_at(values, begin), bytes_at(other, 1),
                                                    bytes_at(values, begin), bytes_at(input, 1),
                                                    count, kFactor);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool inside = i >= begin && i < begin + count;
    const T expected =
        inside ? expected_of(op, before[i], input[i - begin + 1], kFactor) : before[i];
    ASSERT_TRUE(same(values[i], expected)) << "at " << i;
    if (inside) {
      ASSERT_TRUE(same(other[i - begin + 1], expected)) << "at " << i;
    }
  }
  EXPECT_TRUE(same(other.front(), other_before.front()) && same(other.back(), other_before.back()));
}

// Method: the kernel has one output, which it writes over the first or the second input.
template <class T>
void expect_reference_in_one(const Reductions& reductions, ReduceOp op, std::size_t count,
                             bool is_second) {
  SCOPED_TRACE(title_of(reductions, op, count, 0));
  const std::vector<T> left = any_values<T>(count + 1, 1);
  const std::vector<T> right = any_values<T>(count + 1, 2);
  std::vector<T> a = left;
  std::vector<T> b = right;
  std::byte* to = bytes_at(is_second ? b : a);
  reductions.combine_to_both(data_type_of<T>(), op)(to, to, bytes_at(a), bytes_at(b), count,
                                                    kFactor);
  const std::vector<T>& result = is_second ? b : a;
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_TRUE(same(result[i], expected_of(op, left[i], right[i], kFactor))) << "at " << i;
  }
  EXPECT_TRUE(same(a.back(), left.back()) && same(b.back(), right.back()));
}

TYPED_TEST(CombineTest, GivesWhatTheReferenceGivesInEveryVariant) {
  for (const Reductions* reductions : supported<Reductions>()) {
    for (const ReduceOp op : kOps) {
      if (!why_not(op, data_type_of<TypeParam>()).empty()) continue;
      for (const std::size_t count : awkward_counts()) {
        for (const bool is_second : {false, true}) {
          expect_reference_in_one<TypeParam>(*reductions, op, count, is_second);
        }
        for (std::size_t shift = 0; shift <= 3; ++shift) {
          expect_reference<TypeParam>(*reductions, op, count, shift);
          expect_reference_in_both<TypeParam>(*reductions, op, count, shift);
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

// Method: every two special values meet, in both orders. So -0 meets +0, and NaN meets infinity.
TYPED_TEST(CombineTest, GivesWhatTheReferenceGivesForEachPairOfSpecialValues) {
  using T = TypeParam;
  std::vector<T> left;
  std::vector<T> right;
  for (const T a : special_values<T>()) {
    for (const T b : special_values<T>()) {
      left.push_back(a);
      right.push_back(b);
    }
  }
  for (const Reductions* reductions : supported<Reductions>()) {
    for (const ReduceOp op : kOps) {
      if (!why_not(op, data_type_of<T>()).empty()) continue;
      std::vector<T> values = left;
      reductions->combine(data_type_of<T>(), op)(bytes_at(values), bytes_at(right), left.size(),
                                                 kFactor);
      for (std::size_t i = 0; i < left.size(); ++i) {
        EXPECT_TRUE(same(values[i], expected_of(op, left[i], right[i], kFactor)))
            << reductions->variant->name << ", " << to_string(op) << " of " << to_double(left[i])
            << " and " << to_double(right[i]) << " gave " << to_double(values[i]);
      }
    }
  }
}

TYPED_TEST(CombineTest, ScalesInTheTypeThatIsComputedIn) {
  using T = TypeParam;
  if constexpr (kIsFloat<T>) {
    for (const Reductions* reductions : supported<Reductions>()) {
      for (const std::size_t count : awkward_counts()) {
        const std::vector<T> before = any_values<T>(count + 2, 3);
        std::vector<T> values = before;
        const double factor = 0.1;  // Neither float nor double holds it exactly.
        reductions->scale(data_type_of<T>())(bytes_at(values, 1), count, factor);
        EXPECT_TRUE(same(values.front(), before.front()) && same(values.back(), before.back()));
        for (std::size_t i = 1; i <= count; ++i) {
          T expected{};
          if constexpr (kIsHalf<T>) {
            const float product = static_cast<float>(to_double(before[i])) * 0.1F;
            expected = T::from_bits(encode(product, kFormatOf<T>));
          } else {
            expected = before[i] * static_cast<T>(factor);
          }
          ASSERT_TRUE(same(values[i], expected))
              << reductions->variant->name << ", at " << i << " of " << count;
        }
      }
    }
  } else {
    for (const Reductions* reductions : supported<Reductions>()) {
      EXPECT_EQ(reductions->scale(data_type_of<T>()), nullptr);
    }
  }
}

TYPED_TEST(CombineTest, HasAKernelWhereverNothingSpeaksAgainstIt) {
  constexpr DataType kType = data_type_of<TypeParam>();
  for (const Reductions* reductions : supported<Reductions>()) {
    for (const ReduceOp op : kOps) {
      EXPECT_EQ(reductions->combine(kType, op) != nullptr, why_not(op, kType).empty())
          << reductions->variant->name << ", " << to_string(op);
      EXPECT_EQ(reductions->combine(DataType::kByte, op), nullptr);
    }
  }
}

// Method: each of the 65536 numbers meets some others. So every conversion is tested in both
// directions.
template <class T>
void expect_reference_of_all_halves() {
  std::vector<T> all;
  all.reserve(65536);
  for (unsigned bits = 0; bits < 65536; ++bits) {
    all.push_back(T::from_bits(static_cast<std::uint16_t>(bits)));
  }
  for (const float other : {0.0F, -0.0F, 1.0F, 0x1p-14F, -0x1.8p-24F, 0x1.fp-9F, 60000.0F}) {
    const std::vector<T> input(all.size(), T(other));
    for (const ReduceOp op :
         {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kProduct, ReduceOp::kMin, ReduceOp::kMax}) {
      std::vector<T> expected;
      expected.reserve(all.size());
      for (const T value : all) expected.push_back(expected_of(op, value, T(other), kFactor));
      for (const Reductions* reductions : supported<Reductions>()) {
        std::vector<T> values = all;
        reductions->combine(data_type_of<T>(), op)(bytes_at(values), bytes_at(input), all.size(),
                                                   kFactor);
        for (std::size_t i = 0; i < all.size(); ++i) {
          ASSERT_TRUE(same(values[i], expected[i]))
              << reductions->variant->name << ", " << to_string(op) << " of bits " << i << " and "
              << other;
        }
      }
    }
  }
}

TEST(CombineHalves, GivesWhatTheReferenceGivesForEveryFloat16) {
  expect_reference_of_all_halves<Float16>();
}

TEST(CombineHalves, GivesWhatTheReferenceGivesForEveryBfloat16) {
  expect_reference_of_all_halves<Bfloat16>();
}

// 2051 is between two float16 numbers. A third of it, 683.67, is nearest to 683.5. If the sum were
// rounded first, it would be 2052, and its third 684.
TEST(CombineHalves, RoundsAMeanOnce) {
  for (const Reductions* reductions : supported<Reductions>()) {
    std::vector<Float16> values(33, Float16(2048.0F));
    const std::vector<Float16> input(33, Float16(3.0F));
    reductions->combine(DataType::kFloat16, ReduceOp::kMean)(bytes_at(values), bytes_at(input), 33,
                                                             kFactor);
    EXPECT_EQ(static_cast<float>(values.front()), 683.5F) << reductions->variant->name;
    EXPECT_EQ(static_cast<float>(values.back()), 683.5F) << reductions->variant->name;
  }
}

}  // namespace
}  // namespace rota::kernels::testing
