// Compares the gradients of train() with differences of two evaluations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "bound_model.h"

namespace rota {
namespace {

using testing::BoundModel;
using testing::RandomSamples;

struct Case {
  std::string name;
  ImageShape input;
  std::vector<Layer> layers;
  std::size_t samples;
};

std::ostream& operator<<(std::ostream& out, const Case& test) { return out << test.name; }

class GradientTest : public ::testing::TestWithParam<Case> {};

// Method: in double, (loss(w + h) - loss(w - h)) / 2h differs from the derivative by about h², and
// rounding adds 1e-16 / h. Both stay far below the tolerance, and a wrong gradient does not.
// train() computes the losses, so that dropout is the same in all of them.
TEST_P(GradientTest, IsTheDerivativeOfTheSummedLoss) {
  constexpr double kStep = 1e-5;
  const Case& test = GetParam();
  BoundModel<double> model(test.input, test.layers);
  model->initialize(1);
  for (std::size_t index = 0; index < model.parameter_count(); ++index) {
    for (double& value : model.values(index)) value += 0.01;  // Biases must matter, too.
  }
  const RandomSamples<double> samples(test.samples, test.input.count(), model->classes());
  const Batch<double> batch = samples.batch();
  model->train(batch, nullptr);

  std::vector<std::vector<double>> gradients;
  for (std::size_t index = 0; index < model.parameter_count(); ++index) {
    gradients.emplace_back(model.gradient(index).begin(), model.gradient(index).end());
  }
  for (std::size_t index = 0; index < model.parameter_count(); ++index) {
    const std::span<double> values = model.values(index);
    const std::size_t stride = std::max<std::size_t>(1, values.size() / 40);
    for (std::size_t i = 0; i < values.size(); i += stride) {
      const double value = values[i];
      values[i] = value + kStep;
      const double above = model->train(batch, nullptr).loss;
      values[i] = value - kStep;
      const double below = model->train(batch, nullptr).loss;
      values[i] = value;
      const double expected = (above - below) / (2 * kStep);
      const double tolerance = 1e-6 * std::max(0.1, std::abs(expected));
      ASSERT_NEAR(gradients[index][i], expected, tolerance)
          << model->parameters()[index].name << " at " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    EachLayer, GradientTest,
    ::testing::Values(
        Case{"Dense", {1, 1, 7}, {dense(5), dense(3)}, 4},
        Case{"DenseWide", {1, 1, 70}, {dense(45), relu(), dense(35), relu(), dense(18)}, 29},
        Case{"DenseDeep", {20, 30, 1}, {dense(20), sigmoid(), dense(10)}, 3},
        Case{"Relu", {1, 1, 6}, {dense(9), relu(), dense(4)}, 5},
        Case{"Sigmoid", {1, 1, 6}, {dense(9), sigmoid(), dense(4)}, 5},
        Case{"SigmoidFirst", {1, 1, 6}, {sigmoid(), dense(4)}, 5},
        Case{"SigmoidTwice", {1, 1, 6}, {dense(9), sigmoid(), sigmoid(), dense(4)}, 5},
        Case{"Dropout", {1, 1, 6}, {dense(9), relu(), dropout(0.4), dense(4)}, 8},
        Case{"DropoutInPlace", {1, 1, 6}, {dense(9), dropout(0.4), sigmoid(), dense(4)}, 8},
        Case{"DropoutLast", {1, 1, 6}, {dense(9), dropout(0.3)}, 8},
        Case{"MaxPool", {4, 6, 2}, {dense(24), max_pool(1), dense(4)}, 3},
        Case{"MaxPoolOfImages", {4, 6, 2}, {convolution(3, 3), max_pool(2), dense(4)}, 3},
        Case{"MaxPoolCutsOff", {7, 8, 2}, {convolution(3, 3), max_pool(3), dense(4)}, 3},
        Case{"MaxPoolThenRelu", {6, 6, 1}, {convolution(3, 3), max_pool(2), relu(), dense(4)}, 3},
        Case{"ConvolutionOf1", {3, 5, 4}, {convolution(3, 1), convolution(6, 1)}, 3},
        Case{"ConvolutionOf3", {5, 4, 3}, {convolution(4, 3), sigmoid(), convolution(2, 3)}, 3},
        Case{"ConvolutionOf5", {6, 9, 2}, {convolution(3, 5), sigmoid(), convolution(2, 5)}, 2},
        Case{"TiledConvolutionOf3", {7, 5, 16}, {convolution(17, 3), sigmoid(), dense(3)}, 2},
        Case{"TiledConvolutionOf5", {5, 6, 2}, {convolution(16, 5), convolution(16, 5)}, 2},
        Case{"ConvolutionWiderThanImage", {2, 3, 2}, {convolution(3, 7), convolution(2, 5)}, 2}),
    [](const auto& test) { return test.param.name; });

// A convolution works through its samples a few at a time. The batch of ManySamples has more
// samples than a convolution holds at once: an image has 24 × 24 × 12 doubles, and a border.
INSTANTIATE_TEST_SUITE_P(
    WholeNets, GradientTest,
    ::testing::Values(Case{"LeNet",
                           {10, 12, 1},
                           {convolution(4, 5), relu(), max_pool(2), convolution(6, 5), relu(),
                            max_pool(2), dense(12), relu(), dense(5)},
                           7},
                      Case{"ManySamples",
                           {24, 24, 2},
                           {convolution(12, 3), max_pool(4), convolution(33, 3), max_pool(6),
                            dense(3)},
                           9},
                      Case{"EveryLayer",
                           {8, 8, 3},
                           {convolution(5, 3, Initializer::kGlorot), sigmoid(), max_pool(2),
                            dropout(0.2), convolution(4, 3), relu(), dropout(0.5), dense(9), relu(),
                            dense(4, Initializer::kStandardNormal)},
                           6}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace rota
