// Tests the kernels of optimizers, and of the squared norm: every variant must give the bits of
// "scalar", for every count, alignment and value.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/optimizers.h"
#include "kernels/reference.h"

namespace rota::kernels {
namespace {

using testing::any_values;
using testing::awkward_counts;
using testing::norm_in_order;
using testing::same;
using testing::supported;

constexpr std::size_t kGuardValues = 19;  // Values on both sides that no kernel may touch.

template <class T>
class OptimizersTest : public ::testing::Test {
 protected:
  // Changes three arrays by a fourth.
  using Kernel = void (*)(const Updates<T>&, T* first, T* second, T* third, const T* input,
                          std::size_t count);

  // Method: each variant and the reference run on equal copies. The values begin `shift` elements
  // after an aligned address, inside a longer array. The values of each further array begin `apart`
  // elements later in theirs. All copies must be equal afterwards.
  void expect_scalar_bits(Kernel kernel) {
    for (const Optimizers* optimizers : supported<Optimizers>()) {
      for (std::size_t count : awkward_counts()) {
        for (std::size_t shift = 0; shift <= 3; ++shift) {
          for (std::size_t apart = 0; apart <= 1; ++apart) {
            SCOPED_TRACE(std::string(optimizers->variant->name) + ", count " +
                         std::to_string(count) + ", shift " + std::to_string(shift) + ", apart " +
                         std::to_string(apart));
            compare(kernel, *optimizers, count, shift, apart);
          }
        }
      }
    }
  }

 private:
  void compare(Kernel kernel, const Optimizers& optimizers, std::size_t count, std::size_t shift,
               std::size_t apart) {
    const std::size_t all = count + shift + 3 * apart + 2 * kGuardValues;
    std::vector<T> expected[] = {any_values<T>(all, 1), any_values<T>(all, 2),
                                 any_values<T>(all, 3)};
    const std::vector<T> input = any_values<T>(all, 4);
    std::vector<T> changed[] = {expected[0], expected[1], expected[2]};
    const std::size_t begin = kGuardValues + shift;
    const auto run = [&](const Updates<T>& updates, std::vector<T>(&arrays)[3]) {
      kernel(updates, arrays[0].data() + begin, arrays[1].data() + begin + apart,
             arrays[2].data() + begin + 2 * apart, input.data() + begin + 3 * apart, count);
    };
    run(reference<Optimizers>().updates<T>(), expected);
    run(optimizers.updates<T>(), changed);
    for (std::size_t array = 0; array < 3; ++array) {
      for (std::size_t i = 0; i < all; ++i) {
        ASSERT_TRUE(same(changed[array][i], expected[array][i])) << array << ", at " << i;
      }
    }
  }
};

using RealTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(OptimizersTest, RealTypes);

TYPED_TEST(OptimizersTest, UpdatesWithTheBitsOfScalar) {
  using T = TypeParam;
  this->expect_scalar_bits([](const Updates<T>& updates, T* values, T* velocity, T*,
                              const T* gradient, std::size_t count) {
    updates.sgd(values, velocity, gradient, count, {T{0.1F}, T{0.9F}, T{0.003F}, T{1} / 7});
  });
}

TYPED_TEST(OptimizersTest, UpdatesByAdamWithTheBitsOfScalar) {
  using T = TypeParam;
  this->expect_scalar_bits([](const Updates<T>& updates, T* values, T* mean, T* mean_square,
                              const T* gradient, std::size_t count) {
    updates.adam(values, mean, mean_square, gradient, count,
                 {T{0.9F}, T{0.999F}, T{0.003F}, T{0.001F} / T{0.1F}, T{1000}, T{1e-8F}, T{1} / 7});
  });
}

// Small integers and powers of two: no operation rounds, so the results are known.
TYPED_TEST(OptimizersTest, ScalarDoesWhatItsNamesSay) {
  using T = TypeParam;
  const Updates<T>& updates = reference<Optimizers>().updates<T>();
  const std::vector<T> input = {1, 2, 3, -4};

  std::vector<T> values = {-12, -24, -36, -32};
  std::vector<T> velocity = {2, 2, 2, 2};
  updates.sgd(
      values.data(), velocity.data(), input.data(), 4,
      {.learning_rate = T{0.5F}, .momentum = 3, .weight_decay = T{0.25F}, .gradient_scale = 2});
  // g = 2 · input + 0.25 · value is -1, -2, -3, -16.
  EXPECT_EQ(velocity, (std::vector<T>{5, 4, 3, -10}));
  EXPECT_EQ(values, (std::vector<T>{T{-14.5F}, -26, T{-37.5F}, -27}));
}

TYPED_TEST(OptimizersTest, ScalarFollowsAdam) {
  using T = TypeParam;
  const Updates<T>& updates = reference<Optimizers>().updates<T>();
  const std::vector<T> gradient = {8, -8};
  std::vector<T> values = {8, -8};
  std::vector<T> mean = {4, 4};
  std::vector<T> mean_square = {64, 192};
  updates.adam(values.data(), mean.data(), mean_square.data(), gradient.data(), 2,
               {.beta1 = T{0.25F},
                .beta2 = T{0.5F},
                .weight_decay = T{0.5F},
                .rate = 8,
                .correction = T{0.5F},
                .epsilon = 2,
                .gradient_scale = T{0.5F}});
  // g = 0.5 · gradient + 0.5 · value is 8, -8.
  EXPECT_EQ(mean, (std::vector<T>{7, -5}));
  EXPECT_EQ(mean_square, (std::vector<T>{64, 128}));
  // sqrt(64 · 0.5) is no whole number; sqrt(128 · 0.5) + 2 is 10, and 8 · -5 / 10 is -4.
  EXPECT_EQ(values[1], -4);
}

// The squares round, so that another order of the additions would have other bits.
TYPED_TEST(OptimizersTest, AddsSquaresInOneOrder) {
  using T = TypeParam;
  std::vector<std::size_t> counts = awkward_counts();
  counts.insert(counts.end(), {0, 1023, 1025, kNormBlock, kNormBlock + 1, 5 * kNormBlock - 3,
                               kNormThreads * kNormBlock + 1});
  for (const std::size_t count : counts) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = static_cast<T>(std::sin(static_cast<double>(i) + 1));
    }
    const double expected = norm_in_order(values);
    for (const Optimizers* row : supported<Optimizers>()) {
      EXPECT_EQ(row->updates<T>().squared_norm(values.data(), count), expected)
          << row->variant->name << ", count " << count;
    }
  }
}

// Small integers: no addition rounds, so the sum is known.
TYPED_TEST(OptimizersTest, SumsSquaresInDouble) {
  using T = TypeParam;
  const Updates<T>& updates = reference<Optimizers>().updates<T>();
  for (const std::size_t count : {0, 1, 7, 9, 1000, 9000}) {
    std::vector<T> values(count);
    double expected = 0;
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = static_cast<T>(i % 11) - 5;
      expected += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    }
    EXPECT_EQ(updates.squared_norm(values.data(), count), expected) << count;
  }
  const std::vector<float> large(3, std::numeric_limits<float>::max());
  const auto& of_floats = reference<Optimizers>().updates<float>();
  EXPECT_TRUE(std::isfinite(of_floats.squared_norm(large.data(), large.size())));
}

}  // namespace
}  // namespace rota::kernels
