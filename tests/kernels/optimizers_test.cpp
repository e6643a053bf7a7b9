// The optimizer's kernel: every variant must give the bits of "scalar", whatever the count,
// alignment and values.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/optimizers.h"
#include "kernels/reference.h"

namespace rota::kernels {
namespace {

using testing::any_values;
using testing::awkward_counts;
using testing::same;
using testing::supported;

constexpr std::size_t kGuardValues = 19;  // Values on both sides that nobody may touch.

template <class T>
class OptimizersTest : public ::testing::Test {
 protected:
  using Kernel = void (*)(const Updates<T>&, T* first, T* second, const T* input,
                          std::size_t count);

  // Method: each variant and the reference run on equal copies that begin `shift` elements after
  // an aligned address, inside more values than they are told of. All must be equal afterwards.
  void expect_scalar_bits(Kernel kernel) {
    for (const Optimizers* optimizers : supported<Optimizers>()) {
      for (std::size_t count : awkward_counts()) {
        for (std::size_t shift = 0; shift <= 3; ++shift) {
          SCOPED_TRACE(std::string(optimizers->variant->name) + ", count " + std::to_string(count) +
                       ", shift " + std::to_string(shift));
          compare(kernel, *optimizers, count, shift);
        }
      }
    }
  }

 private:
  void compare(Kernel kernel, const Optimizers& optimizers, std::size_t count, std::size_t shift) {
    const std::size_t all = count + shift + 2 * kGuardValues;
    std::vector<T> expected_first = any_values<T>(all, 1);
    std::vector<T> expected_second = any_values<T>(all, 2);
    const std::vector<T> input = any_values<T>(all, 3);
    std::vector<T> first = expected_first;
    std::vector<T> second = expected_second;
    const std::size_t begin = kGuardValues + shift;
    kernel(reference<Optimizers>().updates<T>(), expected_first.data() + begin,
           expected_second.data() + begin, input.data() + begin, count);
    kernel(optimizers.updates<T>(), first.data() + begin, second.data() + begin,
           input.data() + begin, count);
    for (std::size_t i = 0; i < all; ++i) {
      ASSERT_TRUE(same(first[i], expected_first[i])) << "at " << i;
      ASSERT_TRUE(same(second[i], expected_second[i])) << "at " << i;
    }
  }
};

using RealTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(OptimizersTest, RealTypes);

TYPED_TEST(OptimizersTest, UpdatesWithTheBitsOfScalar) {
  using T = TypeParam;
  this->expect_scalar_bits(
      [](const Updates<T>& updates, T* values, T* velocity, const T* gradient, std::size_t count) {
        updates.sgd(values, velocity, gradient, count, {T{0.1F}, T{0.9F}, T{0.003F}, T{1} / 7});
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

}  // namespace
}  // namespace rota::kernels
