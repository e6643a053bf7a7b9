// Products by cuBLAS, which a small library plays: rota gives it the right matrices, streams and
// settings, and understands its errors.
#include "cuda/products.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cuda/fake_cublas.h"
#include "nn/product.h"
#include "testing/fake_device.h"

namespace rota::cuda {
namespace {

FakeCublas& notes() {
  void* const library = dlopen("libcublas.so.13", RTLD_NOW | RTLD_LOCAL);
  return *reinterpret_cast<FakeCublas* (*)()>(dlsym(library, "fake_cublas_notes"))();
}

std::vector<float> whole_numbers(std::size_t count, int first) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>((first + 5 * i) % 7) - 3;
  return values;
}

TEST(CublasProducts, AreThoseOfTheHost) {
  testing::FakeDevice fake;
  const Calls& calls = testing::FakeDevice::calls();
  const On on = {.device = 1, .stream = 77};
  Handle handle = 0;
  ASSERT_EQ(make_products(calls, on, handle), 0);
  constexpr std::size_t kRows = 4;
  constexpr std::size_t kColumns = 3;
  constexpr std::size_t kInner = 5;
  const std::vector<float> a = whole_numbers(kRows * kInner, 1);
  const std::vector<float> b = whole_numbers(kInner * kColumns, 2);
  const auto matrix = [](const std::vector<float>& data, std::size_t rows, std::size_t columns,
                         bool is_transposed) {
    return is_transposed ? nn::row_major(data.data(), columns, rows).transposed()
                         : nn::row_major(data.data(), rows, columns);
  };
  for (const bool a_is_transposed : {false, true}) {
    for (const bool b_is_transposed : {false, true}) {
      for (const bool adds : {false, true}) {
        std::vector<float> expected = whole_numbers(kRows * kColumns, 3);
        std::vector<float> result = expected;
        nn::multiply(matrix(a, kRows, kInner, a_is_transposed),
                     matrix(b, kInner, kColumns, b_is_transposed), expected.data(),
                     adds ? nn::Result::kAdd : nn::Result::kOverwrite);
        ASSERT_EQ(multiply(handle, {a.data(), b.data(), result.data(), kRows, kColumns, kInner,
                                    a_is_transposed, b_is_transposed, adds}),
                  0);
        EXPECT_EQ(result, expected) << a_is_transposed << b_is_transposed << adds;
      }
    }
  }
  EXPECT_EQ(destroy_products(calls, on, handle), 0);
  EXPECT_EQ(notes().handles, 0);
  EXPECT_EQ(fake.open_things(), 0U);
}

TEST(CublasProducts, HaveAStreamAWorkspaceAndFullPrecision) {
  testing::FakeDevice fake;
  const Calls& calls = testing::FakeDevice::calls();
  Handle handle = 0;
  ASSERT_EQ(make_products(calls, {.device = 1, .stream = 77}, handle), 0);
  EXPECT_EQ(notes().stream, reinterpret_cast<void*>(77));
  EXPECT_NE(notes().workspace, nullptr);
  EXPECT_EQ(notes().workspace_bytes, std::size_t{32} << 20);
  EXPECT_EQ(notes().math_mode, 0) << "CUBLAS_DEFAULT_MATH";
  EXPECT_EQ(destroy_products(calls, {.device = 1, .stream = 77}, handle), 0);
}

// cuBLAS counts by int: a larger number would become another one, and the product a wrong one.
TEST(CublasProducts, OfMatricesThatAreTooLargeAreRefused) {
  testing::FakeDevice fake;
  const Calls& calls = testing::FakeDevice::calls();
  constexpr cuda::On kStream{.device = 0, .stream = 77};
  Handle handle = 0;
  ASSERT_EQ(make_products(calls, kStream, handle), 0);
  constexpr std::size_t kTooLarge = (std::size_t{1} << 32) + 1;
  const float one = 1;
  float result = 0;
  EXPECT_EQ(multiply(handle, {&one, &one, &result, kTooLarge, 1, 1}), 1);
  EXPECT_EQ(multiply(handle, {&one, &one, &result, 1, kTooLarge, 1}), 1);
  EXPECT_EQ(multiply(handle, {&one, &one, &result, 1, 1, kTooLarge}), 1);
  EXPECT_EQ(result, 0);
  EXPECT_EQ(destroy_products(calls, kStream, handle), 0);
}

TEST(CublasProducts, TellTheErrorsOfTheLibrary) {
  testing::FakeDevice fake;
  const Calls& calls = testing::FakeDevice::calls();
  Handle handle = 0;
  notes().create_status = 3;
  EXPECT_EQ(make_products(calls, {.stream = 77}, handle), 2) << "cudaErrorMemoryAllocation";
  notes().create_status = 0;
  fake.fail(testing::FakeCall::kAllocate);
  EXPECT_NE(make_products(calls, {.stream = 77}, handle), 0);
  EXPECT_EQ(notes().handles, 0);
  EXPECT_EQ(fake.open_things(), 0U);
  EXPECT_EQ(error_of_cublas(13), 719) << "cudaErrorLaunchFailure";
  EXPECT_EQ(error_of_cublas(14), 999) << "cudaErrorUnknown";
}

}  // namespace
}  // namespace rota::cuda
