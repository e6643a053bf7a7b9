// The table's functions give kernels the right arguments: every type, operation and codec ends with
// the bits of the kernels for CPUs. Method: the kernels for GPUs run as plain C++ on this host.
#include "cuda/arithmetic.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "cuda/devices.h"
#include "kernels/codings.h"
#include "kernels/reductions.h"
#include "kernels/reference.h"

namespace rota::cuda {

// Kernels on the host need no device. The number 7 stands for a device that cannot be used.
int enter(std::uint8_t device) noexcept { return device == 7 ? 101 : 0; }
int leave() noexcept { return 0; }
unsigned blocks_that_fill(std::uint8_t) noexcept { return 3; }

namespace {

using kernels::testing::any_values;
using kernels::testing::bytes_at;

constexpr std::size_t kCount = 9001;
constexpr On kOn{.device = 1, .stream = 1};

const Calls& calls() {
  static const Calls filled = [] {
    Calls calls;
    add_arithmetic(calls);
    return calls;
  }();
  return filled;
}

template <class T>
void expect_same(const std::vector<T>& values, const std::vector<T>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(kernels::testing::same(values[i], expected[i])) << "at " << i;
  }
}

template <class T>
class CudaArithmetic : public ::testing::Test {};

using Types = ::testing::Types<Float16, Bfloat16, float, double, std::int8_t, std::uint8_t,
                               std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(CudaArithmetic, Types);

TYPED_TEST(CudaArithmetic, CombinesAndScales) {
  constexpr DataType kType = data_type_of<TypeParam>();
  const auto& scalar = kernels::reference<kernels::Reductions>();
  const auto input = any_values<TypeParam>(kCount, 2);
  for (std::size_t i = 0; i < kernels::kReduceOpCount; ++i) {
    const auto op = static_cast<ReduceOp>(i);
    if (!why_not(op, kType).empty()) continue;
    SCOPED_TRACE(std::string(to_string(op)));
    auto values = any_values<TypeParam>(kCount, 1);
    auto expected = values;
    scalar.combine(kType, op)(bytes_at(expected), bytes_at(input), kCount, 0.25);
    ASSERT_EQ(calls().combine(kOn, values.data(), input.data(), kCount, kType, op, 0.25), 0);
    expect_same(values, expected);
  }
  if (!is_float(kType)) return;
  auto values = input;
  auto expected = input;
  scalar.scale(kType)(bytes_at(expected), kCount, 0.75);
  ASSERT_EQ(calls().scale(kOn, values.data(), kCount, kType, 0.75), 0);
  expect_same(values, expected);
}

TEST(CudaTable, ReducesSeveralInputsIntoTwoOutputs) {
  const auto& scalar = kernels::reference<kernels::Reductions>();
  constexpr DataType kType = DataType::kFloat32;
  std::vector<std::vector<float>> inputs;
  for (unsigned i = 0; i < 3; ++i) inputs.push_back(any_values<float>(kCount, i + 1));
  const void* const addresses[] = {inputs[0].data(), inputs[1].data(), inputs[2].data()};
  std::vector<float> to(kCount);
  std::vector<float> also_to(kCount);
  ASSERT_EQ(calls().reduce(kOn, {.inputs = addresses,
                                 .input_count = 3,
                                 .to = to.data(),
                                 .also_to = also_to.data(),
                                 .count = kCount,
                                 .type = kType,
                                 .op = ReduceOp::kMean,
                                 .factor = 0.25}),
            0);
  auto expected = inputs[0];
  scalar.combine(kType, ReduceOp::kSum)(bytes_at(expected), bytes_at(inputs[1]), kCount, 1);
  scalar.combine(kType, ReduceOp::kMean)(bytes_at(expected), bytes_at(inputs[2]), kCount, 0.25);
  expect_same(to, expected);
  expect_same(also_to, expected);
}

// Numbers of like magnitudes, so that a codec rounds each of them, and not most of them to zero.
std::vector<float> rounded_numbers(std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = static_cast<float>(i * 7919 % 2003) / 7 - 143;
  }
  return numbers;
}

class CudaCodings : public ::testing::TestWithParam<Codec> {};

TEST_P(CudaCodings, EncodeAndDecode) {
  const auto& scalar = kernels::reference<kernels::Codings>().coding(GetParam());
  const auto values = rounded_numbers(kCount);
  std::vector<std::byte> coded(kernels::coded_bytes(GetParam(), kCount));
  auto expected_coded = coded;
  scalar.encode(expected_coded.data(), bytes_at(values), kCount, {.key = 11, .first = 256});
  ASSERT_EQ(calls().encode(kOn, coded.data(), values.data(), kCount, GetParam(), 11, 256), 0);
  ASSERT_EQ(coded, expected_coded);

  const auto compare = [&](auto call, kernels::Coding::Decode kernel, float factor) {
    auto own = any_values<float>(kCount, 3);
    auto expected = own;
    kernel(bytes_at(expected), bytes_at(expected), coded.data(), kCount, factor);
    ASSERT_EQ(call(own.data()), 0);
    expect_same(own, expected);
  };
  compare([&](void* own) { return calls().decode(kOn, own, coded.data(), kCount, GetParam()); },
          scalar.decode, 1);
  compare(
      [&](void* own) {
        return calls().decode_add(kOn, own, coded.data(), kCount, GetParam(), 0.5F);
      },
      scalar.add, 0.5F);
  compare(
      [&](void* own) { return calls().lose(kOn, own, own, coded.data(), kCount, GetParam(), 4); },
      scalar.lose, 4);
}

INSTANTIATE_TEST_SUITE_P(Codecs, CudaCodings,
                         ::testing::Values(Codec::kBfloat16, Codec::kFloat16, Codec::kInt8,
                                           Codec::kInt8Stochastic, Codec::kTopK),
                         [](const auto& tested) {
                           std::string name(to_string(tested.param));
                           std::erase(name, '-');
                           return name;
                         });

TEST(CudaTable, StartsNoKernelOnADeviceThatCannotBeUsed) {
  std::vector<float> values(10, 1.0F);
  EXPECT_EQ(calls().scale({.device = 7, .stream = 1}, values.data(), 10, DataType::kFloat32, 2),
            101);
  EXPECT_EQ(values, std::vector<float>(10, 1.0F));
}

}  // namespace
}  // namespace rota::cuda
