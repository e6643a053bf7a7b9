// Every variant must give the bits of "scalar", whatever the count, alignment and values.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/kernels.h"

namespace rota::kernels {
namespace {

constexpr std::size_t kGuardCount = 19;  // Values on both sides that nobody may touch.

std::vector<std::size_t> awkward_counts() {
  std::vector<std::size_t> counts;
  for (std::size_t count = 0; count <= 70; ++count) counts.push_back(count);
  counts.insert(counts.end(), {97, 127, 128, 131, 1009, 4099, 65537});
  return counts;
}

const Variant& scalar() { return *variants().back(); }

std::vector<const Variant*> supported_variants() {
  std::vector<const Variant*> supported;
  for (const Variant* variant : variants()) {
    if (variant->supported()) supported.push_back(variant);
  }
  return supported;
}

// The values an addition could get wrong: no number, no end, no sign, hardly anything at all.
template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  return {Limits::quiet_NaN(),
          Limits::infinity(),
          -Limits::infinity(),
          T{0},
          -T{0},
          Limits::denorm_min(),
          -Limits::denorm_min(),
          Limits::min() / 3,
          Limits::max(),
          -Limits::max(),
          Limits::epsilon(),
          T{1}};
}

template <class T>
std::vector<T> any_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  const std::vector<T> special = special_values<T>();
  std::vector<T> values(count);
  for (T& value : values) {
    const T fraction = static_cast<T>(random()) / static_cast<T>(1 << 30) - 2;
    value = random() % 8 == 0 ? special[random() % special.size()] : fraction;
  }
  return values;
}

template <class T>
bool same_bits(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

template <class T>
class ArithmeticTest : public testing::Test {
 protected:
  using Kernel = void (*)(const Arithmetic<T>&, T* first, T* second, const T* input,
                          std::size_t count);

  // Method: each variant and the reference run on equal copies that begin `shift` elements after
  // an aligned address, inside more values than they are told of. All must be equal afterwards.
  void expect_scalar_bits(Kernel kernel) {
    for (const Variant* variant : supported_variants()) {
      for (std::size_t count : awkward_counts()) {
        for (std::size_t shift = 0; shift <= 3; ++shift) {
          SCOPED_TRACE(std::string(variant->name) + ", count " + std::to_string(count) +
                       ", shift " + std::to_string(shift));
          compare(kernel, *variant, count, shift);
        }
      }
    }
  }

 private:
  void compare(Kernel kernel, const Variant& variant, std::size_t count, std::size_t shift) {
    const std::size_t all = count + shift + 2 * kGuardCount;
    std::vector<T> expected_first = any_values<T>(all, 1);
    std::vector<T> expected_second = any_values<T>(all, 2);
    const std::vector<T> input = any_values<T>(all, 3);
    std::vector<T> first = expected_first;
    std::vector<T> second = expected_second;
    const std::size_t begin = kGuardCount + shift;
    kernel(scalar().arithmetic<T>(), expected_first.data() + begin, expected_second.data() + begin,
           input.data() + begin, count);
    kernel(variant.arithmetic<T>(), first.data() + begin, second.data() + begin,
           input.data() + begin, count);
    for (std::size_t i = 0; i < all; ++i) {
      ASSERT_TRUE(same_bits(first[i], expected_first[i])) << "at " << i;
      ASSERT_TRUE(same_bits(second[i], expected_second[i])) << "at " << i;
    }
  }
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ArithmeticTest, Types);

TYPED_TEST(ArithmeticTest, AddsWithTheBitsOfScalar) {
  using T = TypeParam;
  this->expect_scalar_bits([](const Arithmetic<T>& arithmetic, T* values, T*, const T* input,
                              std::size_t count) { arithmetic.add(values, input, count); });
}

TYPED_TEST(ArithmeticTest, AddsAndScalesWithTheBitsOfScalar) {
  using T = TypeParam;
  this->expect_scalar_bits(
      [](const Arithmetic<T>& arithmetic, T* values, T*, const T* input, std::size_t count) {
        arithmetic.add_scale(values, input, count, T{1} / 3);
      });
}

TYPED_TEST(ArithmeticTest, ScalesWithTheBitsOfScalar) {
  using T = TypeParam;
  this->expect_scalar_bits([](const Arithmetic<T>& arithmetic, T* values, T*, const T*,
                              std::size_t count) { arithmetic.scale(values, count, T{1} / 3); });
}

TYPED_TEST(ArithmeticTest, UpdatesWithTheBitsOfScalar) {
  using T = TypeParam;
  this->expect_scalar_bits([](const Arithmetic<T>& arithmetic, T* values, T* velocity,
                              const T* gradient, std::size_t count) {
    arithmetic.sgd_update(values, velocity, gradient, count,
                          {T{0.1F}, T{0.9F}, T{0.003F}, T{1} / 7});
  });
}

// Small integers and powers of two: no operation rounds, so the results are known.
TYPED_TEST(ArithmeticTest, ScalarDoesWhatItsNamesSay) {
  using T = TypeParam;
  const Arithmetic<T>& arithmetic = scalar().arithmetic<T>();
  const std::vector<T> input = {1, 2, 3, -4};

  std::vector<T> values = {10, 20, 30, 40};
  arithmetic.add(values.data(), input.data(), 4);
  EXPECT_EQ(values, (std::vector<T>{11, 22, 33, 36}));

  arithmetic.add_scale(values.data(), input.data(), 4, T{0.5F});
  EXPECT_EQ(values, (std::vector<T>{6, 12, 18, 16}));

  arithmetic.scale(values.data(), 4, T{-2});
  EXPECT_EQ(values, (std::vector<T>{-12, -24, -36, -32}));

  std::vector<T> velocity = {2, 2, 2, 2};
  arithmetic.sgd_update(
      values.data(), velocity.data(), input.data(), 4,
      {.learning_rate = T{0.5F}, .momentum = 3, .weight_decay = T{0.25F}, .gradient_scale = 2});
  // g = 2 · input + 0.25 · value is -1, -2, -3, -16.
  EXPECT_EQ(velocity, (std::vector<T>{5, 4, 3, -10}));
  EXPECT_EQ(values, (std::vector<T>{T{-14.5F}, -26, T{-37.5F}, -27}));
}

TEST(Copy, CopiesAllTheBytesAndNoMore) {
  for (const Variant* variant : supported_variants()) {
    for (std::size_t bytes : awkward_counts()) {
      std::vector<std::byte> from(bytes + 2);
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i % 251 + 1);
      std::vector<std::byte> to(bytes + 2, std::byte{0xff});
      variant->copy(to.data() + 1, from.data() + 1, bytes);
      EXPECT_EQ(to.front(), std::byte{0xff});
      EXPECT_EQ(to.back(), std::byte{0xff});
      EXPECT_TRUE(std::equal(from.begin() + 1, from.end() - 1, to.begin() + 1))
          << variant->name << ", " << bytes << " bytes";
    }
    variant->copy(nullptr, nullptr, 0);
  }
}

}  // namespace
}  // namespace rota::kernels
