// The table's functions for models give kernels the right arguments, on the stream's device.
// Method: the kernels for GPUs run as plain C++ on this host, and cuBLAS is a small library.
#include "cuda/models.h"

#include <gtest/gtest.h>
#include <rota/cuda.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "cuda/devices.h"

namespace rota::cuda {

// Kernels on the host need no device. The number 7 stands for a device that cannot be used.
int enter(std::uint8_t device) noexcept { return device == 7 ? 101 : 0; }
int leave() noexcept { return 0; }
unsigned blocks_that_fill(std::uint8_t) noexcept { return 3; }

namespace {

constexpr On kOn{.device = 1, .stream = 77};
constexpr On kUnusable{.device = 7, .stream = 77};

Calls filled() {
  Calls calls;
  calls.allocate = [](std::uint8_t, std::size_t bytes, void*& address) noexcept {
    address = std::malloc(bytes);
    return address == nullptr ? 2 : 0;
  };
  calls.free = [](std::uint8_t, void* address) noexcept {
    std::free(address);
    return 0;
  };
  add_models(calls);
  return calls;
}

}  // namespace
}  // namespace rota::cuda

const rota::cuda::Calls* rota_calls_of_cuda() noexcept {
  static const rota::cuda::Calls calls = rota::cuda::filled();
  return &calls;
}

namespace rota::cuda {
namespace {

const ModelCalls& models() { return rota_calls_of_cuda()->models; }

TEST(CudaModels, LaunchKernelsWithTheirArguments) {
  std::vector<float> values = {-1, 2, -3, 4};
  ASSERT_EQ(models().activate(kOn, Activation::kRelu, values.data(), values.size()), 0);
  EXPECT_EQ(values, (std::vector<float>{0, 2, 0, 4}));
  std::vector<float> sums = {10, 20};
  std::vector<float> work(row_sums(2));
  ASSERT_EQ(models().add_rows(kOn, sums.data(), work.data(), values.data(), 2, 2, true), 0);
  EXPECT_EQ(sums, (std::vector<float>{10, 26}));
  std::vector<float> pooled = {-1};
  ASSERT_EQ(models().max_pool(kOn, pooled.data(), values.data(), {1, 2, 2, 1, 2}), 0);
  EXPECT_EQ(pooled, std::vector<float>{4});
}

TEST(CudaModels, UpdateAndAddSquares) {
  std::vector<float> values = {1, 2};
  std::vector<float> velocity = {0, 4};
  const std::vector<float> gradient = {2, 4};
  ASSERT_EQ(models().sgd(kOn, values.data(), velocity.data(), gradient.data(), 2,
                         {.learning_rate = 0.5F, .momentum = 0.5F, .gradient_scale = 0.5F}),
            0);
  EXPECT_EQ(velocity, (std::vector<float>{1, 4}));
  EXPECT_EQ(values, (std::vector<float>{0.5F, 0}));
  std::vector<float> mean(2);
  std::vector<float> square(2);
  ASSERT_EQ(
      models().adam(kOn, values.data(), mean.data(), square.data(), gradient.data(), 2,
                    {.beta1 = 0.5F, .beta2 = 0.75F, .rate = 1, .correction = 4, .epsilon = 1}),
      0);
  EXPECT_EQ(mean, (std::vector<float>{1, 2}));
  EXPECT_EQ(square, (std::vector<float>{1, 4}));
  double norm = 0;
  std::vector<double> work(norm_sums(2));
  ASSERT_EQ(models().squared_norm(kOn, &norm, work.data(), gradient.data(), 2), 0);
  EXPECT_EQ(norm, 20);
}

TEST(CudaModels, Multiply) {
  Handle products = 0;
  ASSERT_EQ(models().make_products(kOn, products), 0);
  const std::vector<float> a = {1, 2, 3, 4};
  const std::vector<float> b = {5, 6};
  std::vector<float> result(2);
  ASSERT_EQ(models().multiply(kOn, products,
                              {.a = a.data(),
                               .b = b.data(),
                               .result = result.data(),
                               .rows = 2,
                               .columns = 1,
                               .inner = 2}),
            0);
  EXPECT_EQ(result, (std::vector<float>{17, 39}));
  EXPECT_EQ(models().destroy_products(kOn, products), 0);
}

TEST(CudaModels, TellThatADeviceCannotBeUsed) {
  float value = 1;
  Handle products = 0;
  EXPECT_EQ(models().activate(kUnusable, Activation::kRelu, &value, 1), 101);
  EXPECT_EQ(models().make_products(kUnusable, products), 101);
  EXPECT_EQ(models().sgd(kUnusable, &value, &value, &value, 1, {}), 101);
}

}  // namespace
}  // namespace rota::cuda
