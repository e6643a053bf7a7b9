// Runs the kernels by which models are trained on GPUs. Where each element is on its own, they give
// the bits of the layers on the host. Sums have the bits of a sum in double that is rounded, up to
// a few units in the last place. On a GPU, results of exponentials differ as little.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/cuda/guarded.h"
#include "kernels/cuda/rows.h"
#include "nn/host_math.h"
#include "nn/softmax_cross_entropy.h"

namespace rota::kernels::cuda::testing {
namespace {

using rota::cuda::Activation;
using Host = nn::HostMath<float>;

constexpr std::size_t kModelCounts[] = {1, 3, 4, 17, 100, 3001};

template <class T>
T* elements(Guarded<T>& array) {
  return reinterpret_cast<T*>(array.data());
}

const ModelLaunches& models() { return launches().models; }

// Numbers from -1 to 1, determined by `seed`.
std::vector<float> waves(std::size_t count, unsigned seed) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(std::sin(static_cast<double>(i * 7 + seed * 131 + 1)));
  }
  return values;
}

// Compares results of exponentials. On the host, both sides call one library's functions. CUDA has
// functions of its own, whose results differ in the last places.
void expect_same_or_near(const std::vector<float>& values, const std::vector<float>& expected) {
  if (!kIsOnGpu) return expect_same(values, expected);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (same(values[i], expected[i])) continue;  // A NaN is near no number.
    ASSERT_FLOAT_EQ(values[i], expected[i]) << "at " << i << " of " << values.size();
  }
}

// Calls `change(queue, values, other, count)` for arrays of any alignment, and compares `values`
// with what `on_host(values, other)` makes of them.
template <class Change, class OnHost>
void expect_host(Change change, OnHost on_host,
                 void (*compare)(const std::vector<float>&,
                                 const std::vector<float>&) = expect_same<float>) {
  for (const std::size_t count : kModelCounts) {
    for (const std::size_t shift : {0, 1, 2}) {  // In elements.
      SCOPED_TRACE("count " + std::to_string(count) + ", shift " + std::to_string(shift));
      std::vector<float> before = waves(count, 1);
      before[count / 2] = std::numeric_limits<float>::quiet_NaN();
      const std::vector<float> other = waves(count, 2);
      std::vector<float> expected = before;
      on_host(std::span(expected), other.data());
      in_every_way([&](const Queue& queue) {
        Guarded<float> values(before, shift * sizeof(float));
        Guarded<float> others(other, 3 * shift * sizeof(float));
        ASSERT_EQ(change(queue, elements(values), elements(others), count), 0);
        compare(values.values(), expected);
        ASSERT_TRUE(values.is_intact_around());
      });
    }
  }
}

TEST(GpuActivations, HaveTheBitsOfTheHost) {
  expect_host(
      [](const Queue& queue, float* values, const float*, std::size_t count) {
        return models().activate(queue, Activation::kRelu, values, count);
      },
      [](std::span<float> values, const float*) { Host::relu(values); });
  expect_host(
      [](const Queue& queue, float* values, const float*, std::size_t count) {
        return models().activate(queue, Activation::kSigmoid, values, count);
      },
      [](std::span<float> values, const float*) { Host::sigmoid(values); }, expect_same_or_near);
}

TEST(GpuActivations, HaveTheGradientsOfTheHost) {
  expect_host(
      [](const Queue& queue, float* gradient, const float* output, std::size_t count) {
        return models().differentiate(queue, Activation::kRelu, gradient, output, count);
      },
      [](std::span<float> gradient, const float* output) {
        Host::relu_gradient(gradient, output);
      });
  expect_host(
      [](const Queue& queue, float* gradient, const float* output, std::size_t count) {
        return models().differentiate(queue, Activation::kSigmoid, gradient, output, count);
      },
      [](std::span<float> gradient, const float* output) {
        Host::sigmoid_gradient(gradient, output);
      });
}

TEST(GpuDropout, MultipliesAsTheHostDoes) {
  expect_host(
      [](const Queue& queue, float* values, const float* factors, std::size_t count) {
        return models().multiply_each(queue, values, factors, count);
      },
      [](std::span<float> values, const float* factors) { Host::multiply_each(values, factors); });
}

TEST(GpuDropout, DrawsWhatTheHostDraws) {
  const std::vector<std::uint64_t> identities = {0, 5, std::uint64_t{1} << 40, 77, 1000};
  const DropoutDraw<float> draw = {.key = 0x1234'5678'9abc'def0, .threshold = 20'000, .kept = 1.5F};
  for (const std::size_t units : {1, 7, 8, 9, 100}) {
    std::vector<float> expected(identities.size() * units);
    Host::draw_factors(draw, identities, units, expected.data());
    in_every_way([&](const Queue& queue) {
      Guarded<std::uint64_t> samples(identities, 0);
      Guarded<float> factors(std::vector<float>(expected.size(), -1), sizeof(float));
      ASSERT_EQ(
          models().draw_factors(queue, elements(factors), elements(samples), identities.size(),
                                units, {draw.key, draw.threshold, draw.kept}),
          0);
      expect_same(factors.values(), expected);
      ASSERT_TRUE(factors.is_intact_around());
    });
  }
}

TEST(GpuPixels, BecomeTheInputsOfTheHost) {
  for (const std::size_t count : {1, 15, 16, 17, 100, 5003}) {
    for (const std::size_t shift : {0, 1, 5}) {
      SCOPED_TRACE("count " + std::to_string(count) + ", shift " + std::to_string(shift));
      std::vector<std::uint8_t> pixels(count);
      std::vector<float> expected(count);
      for (std::size_t i = 0; i < count; ++i) {
        pixels[i] = static_cast<std::uint8_t>(i * 37);
        expected[i] = static_cast<float>(pixels[i]) / 255.0F;
      }
      in_every_way([&](const Queue& queue) {
        Guarded<std::uint8_t> from(pixels, shift);
        Guarded<float> values(std::vector<float>(count, -1), shift * sizeof(float));
        ASSERT_EQ(models().widen_pixels(queue, elements(values), elements(from), count), 0);
        expect_same(values.values(), expected);
        ASSERT_TRUE(values.is_intact_around());
      });
    }
  }
}

struct Extent {
  std::size_t rows;
  std::size_t columns;
};
constexpr Extent kExtents[] = {{1, 1},   {3, 10},    {7, 33},    {100, 512},
                               {129, 5}, {1000, 32}, {20'000, 3}};

TEST(GpuRows, AreFilledAsOnTheHost) {
  for (const auto& [rows, columns] : kExtents) {
    const std::vector<float> row = waves(columns, 3);
    std::vector<float> expected(rows * columns);
    Host::fill_rows(row.data(), columns, expected.data(), rows);
    in_every_way([&, rows = rows, columns = columns](const Queue& queue) {
      Guarded<float> from(row, 0);
      Guarded<float> matrix(std::vector<float>(rows * columns, -1), 0);
      ASSERT_EQ(models().fill_rows(queue, elements(matrix), elements(from), rows, columns), 0);
      expect_same(matrix.values(), expected);
      ASSERT_TRUE(matrix.is_intact_around());
    });
  }
}

// Adds in the order that rows.h describes, in another way: element by element.
float sum_in_order(const std::vector<float>& matrix, std::size_t rows, std::size_t columns,
                   std::size_t column) {
  std::vector<float> groups(row_groups(rows));
  for (std::size_t group = 0; group < groups.size(); ++group) {
    float lanes[8] = {};
    for (std::size_t i = 0; i < rows_of_group(rows); ++i) {
      const std::size_t row = group * rows_of_group(rows) + i;
      if (row < rows) lanes[i % 8] += matrix[row * columns + column];
    }
    for (const std::size_t half : {4, 2, 1}) {
      for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    }
    groups[group] = lanes[0];
  }
  if (groups.size() == 1) return groups[0];
  float sum = 0;
  for (const float group : groups) sum += group;
  return sum;
}

TEST(GpuRows, AreAddedInOneOrder) {
  for (const auto& [rows, columns] : kExtents) {
    for (const bool adds : {false, true}) {
      SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(columns) + " columns");
      const std::vector<float> values = waves(rows * columns, 4);
      const std::vector<float> before = waves(columns, 5);
      std::vector<float> expected(columns);
      for (std::size_t column = 0; column < columns; ++column) {
        const float sum = sum_in_order(values, rows, columns, column);
        double exact = 0;
        for (std::size_t row = 0; row < rows; ++row) exact += values[row * columns + column];
        EXPECT_NEAR(sum, exact, 1e-6 * static_cast<double>(rows));
        expected[column] = adds ? before[column] + sum : sum;
      }
      in_every_way([&, rows = rows, columns = columns](const Queue& queue) {
        Guarded<float> matrix(values, 0);
        Guarded<float> sums(before, sizeof(float));
        Guarded<float> work(std::vector<float>(rota::cuda::row_sums(columns)), 0);
        ASSERT_EQ(models().add_rows(queue, elements(sums), elements(work), elements(matrix), rows,
                                    columns, adds),
                  0);
        expect_same(sums.values(), expected);
        ASSERT_TRUE(sums.is_intact_around());
        ASSERT_TRUE(work.is_intact_around());
      });
    }
  }
}

struct Pooled {
  std::size_t samples;
  ImageShape input;
  std::size_t window;
};
const Pooled kPooled[] = {
    {1, {2, 2, 1}, 2}, {3, {7, 5, 3}, 2}, {2, {9, 9, 4}, 3}, {2, {4, 6, 2}, 1}};

TEST(GpuPooling, HasTheBitsOfTheHost) {
  for (const auto& [samples, input, window] : kPooled) {
    const ImageShape output = {input.rows / window, input.columns / window, input.channels};
    std::vector<float> values = waves(samples * input.count(), 6);
    for (std::size_t i = 0; i + 1 < values.size(); i += 3)
      values[i + 1] = values[i];  // Equal ones.
    values[values.size() / 2] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> output_gradient = waves(samples * output.count(), 7);
    nn::HostPooling<float> host(input, output, window);
    std::vector<float> expected(samples * output.count());
    std::vector<float> expected_gradient(samples * input.count());
    host.forward(samples, values.data(), expected.data());
    host.backward(samples, values.data(), output_gradient.data(), expected_gradient.data());
    const rota::cuda::Images images = {samples, input.rows, input.columns, input.channels, window};
    in_every_way([&](const Queue& queue) {
      Guarded<float> from(values, 0);
      Guarded<float> gradient_from(output_gradient, 0);
      Guarded<float> pooled(std::vector<float>(expected.size(), -1), 0);
      Guarded<float> gradient(std::vector<float>(values.size(), 0), 0);
      ASSERT_EQ(models().max_pool(queue, elements(pooled), elements(from), images), 0);
      ASSERT_EQ(models().max_pool_gradient(queue, elements(gradient), elements(from),
                                           elements(gradient_from), images),
                0);
      expect_same(pooled.values(), expected);
      expect_same(gradient.values(), expected_gradient);
      ASSERT_TRUE(pooled.is_intact_around() && gradient.is_intact_around());
    });
  }
}

// Four channels are copied at a time if addresses allow it.
TEST(GpuWindows, AreThoseOfTheHost) {
  for (const auto& [samples, shape, window] :
       {Pooled{1, {1, 1, 1}, 3}, Pooled{2, {5, 4, 3}, 3}, Pooled{2, {6, 7, 8}, 5}}) {
    nn::PaddedImages<float> host(shape, window);
    const std::vector<float> values = waves(samples * shape.count(), 8);
    const nn::Matrix<float> matrix = host.windows(values.data(), samples);
    std::vector<float> expected;
    for (std::size_t row = 0; row < matrix.rows; ++row) {
      for (std::size_t column = 0; column < matrix.columns; ++column) {
        expected.push_back(matrix.data[matrix.column_major ? column * matrix.rows + row
                                                           : row * matrix.columns + column]);
      }
    }
    const rota::cuda::Images images = {samples, shape.rows, shape.columns, shape.channels, window};
    for (const std::size_t shift : {0, 1}) {
      in_every_way([&](const Queue& queue) {
        Guarded<float> from(values, shift * sizeof(float));
        Guarded<float> windows(std::vector<float>(expected.size(), -1), 0);
        ASSERT_EQ(models().unfold(queue, elements(windows), elements(from), images), 0);
        expect_same(windows.values(), expected);
        ASSERT_TRUE(windows.is_intact_around());
      });
    }
  }
}

TEST(GpuWindows, MeetFiltersThatAreTurnedAsOnTheHost) {
  const std::vector<float> weights = waves(std::size_t{9} * 5 * 7, 9);
  std::vector<float> expected(weights.size());
  Host::turn_filters(weights.data(), 9, 5, 7, expected.data());
  in_every_way([&](const Queue& queue) {
    Guarded<float> from(weights, 0);
    Guarded<float> turned(std::vector<float>(weights.size(), -1), 0);
    ASSERT_EQ(models().turn_filters(queue, elements(turned), elements(from), 9, 5, 7), 0);
    expect_same(turned.values(), expected);
    ASSERT_TRUE(turned.is_intact_around());
  });
}

// Compares the totals with a loss and a number of correct samples.
void expect_score(const Guarded<double>& totals, double loss, std::size_t correct) {
  const std::vector<double> values = totals.values();
  EXPECT_NEAR(values[0], loss, 1e-12 * loss);
  EXPECT_EQ(values[1], static_cast<double>(correct));
  ASSERT_TRUE(totals.is_intact_around());
}

TEST(GpuLoss, IsTheHosts) {
  for (const std::size_t samples : {1, 5, 255, 256, 1000}) {
    constexpr std::size_t kClasses = 10;
    const std::vector<float> values = waves(samples * kClasses, 10);
    std::vector<std::uint8_t> classes(samples);
    for (std::size_t i = 0; i < samples; ++i) classes[i] = static_cast<std::uint8_t>(i % kClasses);
    std::vector<float> expected(values.size());
    const Score score =
        nn::softmax_cross_entropy(values.data(), kClasses, std::span(classes), expected.data());
    in_every_way([&](const Queue& queue) {
      Guarded<float> logits(values, 0);
      Guarded<std::uint8_t> labels(classes, 0);
      Guarded<float> gradient(std::vector<float>(values.size(), -1), 0);
      Guarded<double> totals({0.5, 3}, 0);
      const auto run = [&](float* to, bool adds) {
        ASSERT_EQ(models().softmax_cross_entropy(queue, elements(totals), to, elements(logits),
                                                 elements(labels), samples, kClasses, adds),
                  0);
      };
      run(elements(gradient), false);
      expect_same_or_near(gradient.values(), expected);
      expect_score(totals, score.loss, score.correct);
      run(nullptr, true);
      expect_score(totals, 2 * score.loss, 2 * score.correct);
      ASSERT_TRUE(gradient.is_intact_around());
    });
  }
}

}  // namespace
}  // namespace rota::kernels::cuda::testing
