// Runs the kernels for GPUs that combine, scale and convert arrays. They must give the bits of the
// CPU's "scalar".
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <rota/float16.h>

#include "kernels/cuda/guarded.h"

namespace rota::kernels::cuda::testing {
namespace {

constexpr double kThird = 1.0F / 3.0F;  // The factor of a mean of three ranks.
// The last one has several runs for each thread of a block.
constexpr std::size_t kReducedCounts[] = {1, 7, 16, 33, 67, 300, 5003};

// How many bytes the arrays lie behind an aligned address: the output, the second output, and the
// input with number i, which lies i steps further than the first one.
struct Layout {
  const char* name;
  std::size_t to;
  std::size_t also_to;
  std::size_t input;
  std::size_t step;
};
constexpr Layout kLayouts[] = {{"all aligned", 0, 0, 0, 0},
                               {"all alike", 24, 24, 24, 0},
                               {"outputs aligned, inputs all different", 0, 0, 8, 8},
                               {"no two alike", 8, 16, 40, 24},
                               {"at odd bytes", 1, 2, 3, 5}};

template <class T>
class GpuReductions : public ::testing::Test {
 protected:
  static constexpr DataType kType = data_type_of<T>();

  // Computes with the kernels of "scalar", one input after the other.
  static std::vector<T> expected_of(ReduceOp op, const std::vector<std::vector<T>>& inputs) {
    const Reductions& scalar = reference<Reductions>();
    std::vector<T> result = inputs[0];
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      const bool is_last = i + 1 == inputs.size();
      const ReduceOp each = op == ReduceOp::kMean && !is_last ? ReduceOp::kSum : op;
      scalar.combine(kType, each)(bytes_of(result), bytes_of(inputs[i]), result.size(), kThird);
    }
    return result;
  }

  static void expect_scalar(const Queue& queue, ReduceOp op, std::size_t input_count,
                            std::size_t count, const Layout& layout) {
    std::vector<std::vector<T>> values;
    std::vector<Guarded<T>> inputs;
    Reduction reduction = {};
    for (std::size_t i = 0; i < input_count; ++i) {
      values.push_back(any_values<T>(count, static_cast<unsigned>(i + 1)));
      inputs.emplace_back(values[i], layout.input + i * layout.step);
    }
    for (std::size_t i = 0; i < input_count; ++i) reduction.inputs[i] = inputs[i].data();
    Guarded<T> to(any_values<T>(count, 20), layout.to);
    Guarded<T> also_to(any_values<T>(count, 21), layout.also_to);
    reduction.input_count = static_cast<unsigned>(input_count);
    reduction.to = to.data();
    reduction.also_to = also_to.data();
    reduction.count = count;
    reduction.factor = kThird;
    const Reduce reduce = launches().of(kType).reduce[static_cast<std::size_t>(op)];
    ASSERT_NE(reduce, nullptr);
    ASSERT_EQ(reduce(queue, reduction), 0);
    const std::vector<T> expected = expected_of(op, values);
    expect_same(to.values(), expected);
    expect_same(also_to.values(), expected);
    ASSERT_TRUE(to.is_intact_around() && also_to.is_intact_around());
    for (std::size_t i = 0; i < input_count; ++i) expect_same(inputs[i].values(), values[i]);
  }

  static std::byte* bytes_of(std::vector<T>& values) { return kernels::testing::bytes_at(values); }
  static const std::byte* bytes_of(const std::vector<T>& values) {
    return kernels::testing::bytes_at(values);
  }
};

using ReducedTypes = ::testing::Types<Float16, Bfloat16, float, double, std::int8_t, std::uint8_t,
                                      std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(GpuReductions, ReducedTypes);

TYPED_TEST(GpuReductions, HaveTheBitsOfScalar) {
  for (std::size_t op = 0; op < kReduceOpCount; ++op) {
    const auto reduce_op = static_cast<ReduceOp>(op);
    const bool is_possible = why_not(reduce_op, this->kType).empty();
    EXPECT_EQ(launches().of(this->kType).reduce[op] != nullptr, is_possible);
    if (!is_possible) continue;
    for (const Layout& layout : kLayouts) {
      for (const std::size_t count : kReducedCounts) {
        SCOPED_TRACE(std::string(to_string(reduce_op)) + ", count " + std::to_string(count) + ", " +
                     layout.name);
        in_every_way(
            [&](const Queue& queue) { this->expect_scalar(queue, reduce_op, 2, count, layout); });
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(GpuReductions, TakeUpToEightInputs) {
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kMax}) {
    if (!why_not(op, this->kType).empty()) continue;
    for (std::size_t input_count = 2; input_count <= kMostInputs; ++input_count) {
      for (const Layout& layout : kLayouts) {
        SCOPED_TRACE(std::string(to_string(op)) + " of " + std::to_string(input_count) + ", " +
                     layout.name);
        this->expect_scalar({nullptr, 2}, op, input_count, 1003, layout);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// The ring adds into its own values, and writes what it has added to the next rank's as well.
TYPED_TEST(GpuReductions, MayWriteOverTheirInputs) {
  using T = TypeParam;
  for (const std::size_t shift : {0, 8, 3}) {
    SCOPED_TRACE(shift);
    in_every_way([&](const Queue& queue) {
      const auto first = any_values<T>(2500, 1);
      const auto second = any_values<T>(2500, 2);
      Guarded<T> to(first, shift);
      Guarded<T> also_to(second, 2 * shift);
      const Reduction reduction = {.inputs = {to.data(), also_to.data()},
                                   .input_count = 2,
                                   .to = to.data(),
                                   .also_to = also_to.data(),
                                   .count = 2500,
                                   .factor = 1};
      ASSERT_EQ(launches().of(this->kType).reduce[0](queue, reduction), 0);
      const auto expected = this->expected_of(ReduceOp::kSum, {first, second});
      expect_same(to.values(), expected);
      expect_same(also_to.values(), expected);
      ASSERT_TRUE(to.is_intact_around() && also_to.is_intact_around());
    });
  }
}

TYPED_TEST(GpuReductions, ScaleWithTheBitsOfScalar) {
  using T = TypeParam;
  const Scale scale = launches().of(this->kType).scale;
  const kernels::Scale scalar = reference<Reductions>().scale(this->kType);
  ASSERT_EQ(scale != nullptr, scalar != nullptr);
  if (scale == nullptr) return;
  for (const std::size_t shift : {0, 8, 1}) {
    for (const std::size_t count : kReducedCounts) {
      SCOPED_TRACE("shift " + std::to_string(shift) + ", count " + std::to_string(count));
      in_every_way([&](const Queue& queue) {
        std::vector<T> expected = any_values<T>(count, 1);
        Guarded<T> values(expected, shift);
        ASSERT_EQ(scale(queue, values.data(), count, kThird), 0);
        scalar(this->bytes_of(expected), count, kThird);
        expect_same(values.values(), expected);
        ASSERT_TRUE(values.is_intact_around());
      });
    }
  }
}

template <class To, class From>
To converted(From value) {
  if constexpr (kernels::testing::kIsHalf<To> || kernels::testing::kIsHalf<From>) {
    return static_cast<To>(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <class To, class From>
void expect_cast(std::size_t count, std::size_t to_shift, std::size_t from_shift) {
  const auto to_index = static_cast<std::size_t>(data_type_of<To>());
  const Cast cast = launches().of(data_type_of<From>()).cast_to[to_index];
  if (std::is_same_v<To, From>) {
    ASSERT_EQ(cast, nullptr);
    return;
  }
  ASSERT_NE(cast, nullptr);
  in_every_way([&](const Queue& queue) {
    const std::vector<From> values = any_values<From>(count, 1);
    Guarded<From> from(values, from_shift);
    Guarded<To> to(any_values<To>(count, 2), to_shift);
    ASSERT_EQ(cast(queue, to.data(), from.data(), count), 0);
    std::vector<To> expected;
    for (const From value : values) expected.push_back(converted<To>(value));
    expect_same(to.values(), expected);
    ASSERT_TRUE(to.is_intact_around());
  });
}

template <class From>
void expect_casts(std::size_t count, std::size_t to_shift, std::size_t from_shift) {
  expect_cast<Float16, From>(count, to_shift, from_shift);
  expect_cast<Bfloat16, From>(count, to_shift, from_shift);
  expect_cast<float, From>(count, to_shift, from_shift);
  expect_cast<double, From>(count, to_shift, from_shift);
}

TEST(GpuCasts, RoundAsTheTypesThemselves) {
  for (const std::size_t count : kReducedCounts) {
    for (const auto& [to_shift, from_shift] :
         {std::pair<std::size_t, std::size_t>{0, 0}, {8, 0}, {0, 24}, {1, 5}}) {
      SCOPED_TRACE("count " + std::to_string(count) + ", shifts " + std::to_string(to_shift) +
                   " and " + std::to_string(from_shift));
      expect_casts<Float16>(count, to_shift, from_shift);
      expect_casts<Bfloat16>(count, to_shift, from_shift);
      expect_casts<float>(count, to_shift, from_shift);
      expect_casts<double>(count, to_shift, from_shift);
    }
  }
}

}  // namespace
}  // namespace rota::kernels::cuda::testing
