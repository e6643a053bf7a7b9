// Compares the two ways to convolve: tile by tile, and with one product for all windows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "nn/buffer.h"
#include "nn/convolution.h"
#include "nn/host_math.h"
#include "nn/tiled_convolution.h"

namespace rota::nn {
namespace {

struct Case {
  ImageShape input;
  std::size_t filters;
  std::size_t window;
  std::size_t samples;
};

std::vector<float> numbers(std::size_t count, std::size_t seed) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>((i * 7919 + seed * 104729) % 1009) / 504.5F - 1;
  }
  return values;
}

struct Results {
  std::vector<float> output;
  std::vector<float> weights_gradient;
  std::vector<float> biases_gradient;
  std::vector<float> input_gradient;
};

Results run(Module<float>& module, const Case& test, bool add_gradients) {
  const std::size_t pixels = test.input.rows * test.input.columns;
  std::vector<float> weights =
      numbers(test.window * test.window * test.input.channels * test.filters, 1);
  std::vector<float> biases = numbers(test.filters, 2);
  Results results = {std::vector<float>(test.samples * pixels * test.filters),
                     numbers(weights.size(), 3), numbers(biases.size(), 4),
                     std::vector<float>(test.samples * test.input.count())};
  module.bind(0, weights.data(), results.weights_gradient.data());
  module.bind(1, biases.data(), results.biases_gradient.data());
  const std::vector<float> input = numbers(results.input_gradient.size(), 5);
  const std::vector<float> gradient = numbers(results.output.size(), 6);
  const Pass pass = {.samples = test.samples, .training = true, .add_gradients = add_gradients};
  module.forward(pass, input.data(), results.output.data());
  const Backward<float> backward = {input.data(), results.output.data(), gradient.data(),
                                    results.input_gradient.data()};
  module.parameter_gradients(pass, backward);
  module.input_gradient(pass, backward);
  return results;
}

// The error is relative to the greatest value: sums of hundreds of floats may cancel out.
void expect_near(const std::vector<float>& result, const std::vector<float>& expected) {
  ASSERT_EQ(result.size(), expected.size());
  float greatest = 0;
  for (const float value : expected) greatest = std::max(greatest, std::abs(value));
  for (std::size_t i = 0; i < result.size(); ++i) {
    ASSERT_NEAR(result[i], expected[i], 3e-5F * greatest) << "at " << i;
  }
}

class TiledConvolutionTest : public ::testing::TestWithParam<Case> {};

TEST_P(TiledConvolutionTest, GivesWhatOneProductGives) {
  for (const bool add_gradients : {false, true}) {
    const Case& test = GetParam();
    const Layer layer = convolution(test.filters, test.window);
    TiledConvolution<float> by_tiles(test.input, layer);
    Convolution<HostMath<float>> by_windows({}, test.input, layer);
    const Results tiled = run(by_tiles, test, add_gradients);
    const Results plain = run(by_windows, test, add_gradients);
    expect_near(tiled.output, plain.output);
    expect_near(tiled.weights_gradient, plain.weights_gradient);
    expect_near(tiled.biases_gradient, plain.biases_gradient);
    expect_near(tiled.input_gradient, plain.input_gradient);
  }
}

// The cases have images of one tile and of many, with and without tiles that are cut off, and an
// image that is smaller than a tile. Some cases have more images than fit at a time.
INSTANTIATE_TEST_SUITE_P(Shapes, TiledConvolutionTest,
                         ::testing::Values(Case{{4, 4, 16}, 16, 5, 1}, Case{{6, 6, 16}, 16, 3, 2},
                                           Case{{1, 1, 17}, 18, 5, 3}, Case{{14, 14, 32}, 64, 5, 9},
                                           Case{{13, 7, 33}, 16, 3, 30},
                                           Case{{40, 41, 16}, 20, 5, 2}));

TEST(TiledConvolution, SuitsSmallWindowsAndSomeChannels) {
  using Tiled = TiledConvolution<float>;
  EXPECT_TRUE(Tiled::suits({14, 14, 32}, convolution(64, 5)));
  EXPECT_TRUE(Tiled::suits({14, 14, 32}, convolution(64, 3)));
  EXPECT_FALSE(Tiled::suits({14, 14, 32}, convolution(64, 1)));
  EXPECT_FALSE(Tiled::suits({14, 14, 32}, convolution(64, 7)));
  EXPECT_FALSE(Tiled::suits({28, 28, 1}, convolution(32, 5)));
  EXPECT_FALSE(Tiled::suits({28, 28, 32}, convolution(1, 5)));
}

}  // namespace
}  // namespace rota::nn
