// Runs the optimizers for GPUs, which must give the bits of the CPU's "scalar", and the squared
// norm.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/cuda/guarded.h"

namespace rota::kernels::cuda::testing {
namespace {

using kernels::testing::norm_in_order;

constexpr std::size_t kUpdatedCounts[] = {1, 3, 4, 17, 100, 3001};

template <class T>
class GpuUpdates : public ::testing::Test {
 protected:
  static const UpdateLaunches<T>& own() {
    if constexpr (sizeof(T) == sizeof(float)) {
      return launches().float32;
    } else {
      return launches().float64;
    }
  }
  static T* at(Guarded<T>& values) { return reinterpret_cast<T*>(values.data()); }

  // Calls update(queue, arrays, gradient, count), which changes three arrays, and compares the
  // arrays with what scalar(arrays, gradient, count) makes of them.
  template <class Update, class Scalar>
  static void expect_scalar(Update update, Scalar scalar) {
    for (const std::size_t count : kUpdatedCounts) {
      for (const std::size_t shift : {0, 1, 2}) {  // In elements; each array is shifted further.
        SCOPED_TRACE("count " + std::to_string(count) + ", shift " + std::to_string(shift));
        std::vector<T> expected[3];
        for (unsigned i = 0; i < 3; ++i) expected[i] = any_values<T>(count, i + 1);
        const std::vector<T> gradient_values = any_values<T>(count, 4);
        const std::vector<T> before[3] = {expected[0], expected[1], expected[2]};
        scalar(expected, gradient_values.data(), count);
        in_every_way([&](const Queue& queue) {
          Guarded<T> arrays[3] = {{before[0], shift * sizeof(T)},
                                  {before[1], 2 * shift * sizeof(T)},
                                  {before[2], 3 * shift * sizeof(T)}};
          Guarded<T> gradient(gradient_values, shift * 3 * sizeof(T));
          T* const addresses[3] = {at(arrays[0]), at(arrays[1]), at(arrays[2])};
          ASSERT_EQ(update(queue, addresses, at(gradient), count), 0);
          for (unsigned i = 0; i < 3; ++i) {
            expect_same(arrays[i].values(), expected[i]);
            ASSERT_TRUE(arrays[i].is_intact_around());
          }
        });
      }
    }
  }
};

using RealTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(GpuUpdates, RealTypes);

TYPED_TEST(GpuUpdates, BySgdHaveTheBitsOfScalar) {
  using T = TypeParam;
  const Hyperparameters<T> parameters = {T{0.1F}, T{0.9F}, T{0.003F}, T{1} / 7};
  this->expect_scalar(
      [&](const Queue& queue, T* const* arrays, const T* gradient, std::size_t count) {
        return this->own().sgd(queue, arrays[0], arrays[1], gradient, count, parameters);
      },
      [&](std::vector<T>* arrays, const T* gradient, std::size_t count) {
        reference<Optimizers>().template updates<T>().sgd(arrays[0].data(), arrays[1].data(),
                                                          gradient, count, parameters);
      });
}

TYPED_TEST(GpuUpdates, ByAdamHaveTheBitsOfScalar) {
  using T = TypeParam;
  const AdamFactors<T> factors = {T{0.9F}, T{0.999F}, T{0.003F}, T{0.01F},
                                  T{1000}, T{1e-8F},  T{1} / 7};
  this->expect_scalar(
      [&](const Queue& queue, T* const* arrays, const T* gradient, std::size_t count) {
        return this->own().adam(queue, arrays[0], arrays[1], arrays[2], gradient, count, factors);
      },
      [&](std::vector<T>* arrays, const T* gradient, std::size_t count) {
        reference<Optimizers>().template updates<T>().adam(
            arrays[0].data(), arrays[1].data(), arrays[2].data(), gradient, count, factors);
      });
}

// A thread of the second kernel then adds the sums of two blocks.
constexpr std::size_t kMoreBlocksThanThreads = kNormThreads * kNormBlock + 1;
constexpr std::size_t kNormCounts[] = {0, 1, 4, 1023, 4096, 4097, 20000, kMoreBlocksThanThreads};

template <class T>
class GpuNorms : public ::testing::Test {};
TYPED_TEST_SUITE(GpuNorms, RealTypes);

TYPED_TEST(GpuNorms, AreAddedInOneOrder) {
  using T = TypeParam;
  for (const std::size_t count : kNormCounts) {
    std::vector<T> values(count);
    double exact = 0;
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = static_cast<T>(std::sin(static_cast<double>(i) + 1));
      exact += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    }
    const double expected = norm_in_order(values);
    EXPECT_NEAR(expected, exact, 1e-12 * exact);
    EXPECT_EQ(expected,
              reference<Optimizers>().template updates<T>().squared_norm(values.data(), count));
    for (const std::size_t shift : {0, 8, 1}) {
      if (shift > 0 && count == kMoreBlocksThanThreads) break;  // This would take long.
      SCOPED_TRACE("count " + std::to_string(count) + ", shift " + std::to_string(shift));
      in_every_way([&](const Queue& queue) {
        Guarded<T> from(values, shift);
        Guarded<double> sums(std::vector<double>(norm_sums(count)), 0);
        Guarded<double> norm({-1}, 0);
        const auto numbers = [](Guarded<double>& own) {
          return reinterpret_cast<double*>(own.data());
        };
        ASSERT_EQ(launches()
                      .of(data_type_of<T>())
                      .squared_norm(queue, numbers(norm), numbers(sums), from.data(), count),
                  0);
        ASSERT_EQ(norm.values()[0], expected);
        ASSERT_TRUE(norm.is_intact_around() && sums.is_intact_around());
      });
    }
  }
}

}  // namespace
}  // namespace rota::kernels::cuda::testing
