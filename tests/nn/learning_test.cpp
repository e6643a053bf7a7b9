// Small problems that a model learns only if all its parts work together.
#include <gtest/gtest.h>
#include <rota/optimizer.h>

#include <algorithm>
#include <vector>

#include "bound_model.h"

namespace rota {
namespace {

using testing::BoundModel;

template <class T>
void learn(BoundModel<T>& model, const Batch<T>& batch, const OptimizerOptions& options,
           std::size_t steps) {
  std::vector<std::size_t> counts;
  for (const ParameterInfo& parameter : model->parameters()) counts.push_back(parameter.count());
  Optimizer<T> optimizer(options, counts);
  const T scale = T{1} / static_cast<T>(batch.labels.size());
  for (std::size_t step = 0; step < steps; ++step) {
    optimizer.begin_step();
    model->train(batch, [&](std::size_t index) {
      optimizer.update(index, model.values(index), model.gradient(index), scale);
    });
  }
}

template <class T>
class LearningTest : public ::testing::Test {};

using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LearningTest, Types);

// No line separates the two classes, so a hidden layer has to learn something.
TYPED_TEST(LearningTest, LearnsExclusiveOr) {
  using T = TypeParam;
  const std::vector<T> inputs = {0, 0, 0, 1, 1, 0, 1, 1};
  const std::vector<std::uint8_t> labels = {0, 1, 1, 0};
  const Batch<T> batch = {.inputs = inputs, .labels = labels, .samples = {}};
  BoundModel<T> model({1, 1, 2}, {dense(8, Initializer::kStandardNormal), sigmoid(), dense(2)});
  model->initialize(1);
  EXPECT_LT(model->evaluate(batch).correct, 4U);
  learn(model, batch, Sgd{.learning_rate = 1, .momentum = 0.9}, 300);
  EXPECT_EQ(model->evaluate(batch).correct, 4U);
  EXPECT_LT(model->evaluate(batch).loss, 0.2);
}

// The lines are horizontal, vertical or diagonal, and may be anywhere in the image. So the model
// needs a convolution.
TYPED_TEST(LearningTest, TellsTheDirectionsOfLines) {
  using T = TypeParam;
  constexpr std::size_t kSide = 9;
  std::vector<T> inputs;
  std::vector<std::uint8_t> labels;
  for (std::size_t label = 0; label < 4; ++label) {
    for (std::size_t place = 0; place < kSide; ++place) {
      std::vector<T> image(kSide * kSide);
      for (std::size_t i = 0; i < kSide; ++i) {
        const std::size_t along = (label == 3 ? kSide - i : i) + place;
        const std::size_t row = label == 0 ? place : i;
        const std::size_t column = label == 0 ? i : (label == 1 ? place : along % kSide);
        image[row * kSide + column] = 1;
      }
      inputs.insert(inputs.end(), image.begin(), image.end());
      labels.push_back(static_cast<std::uint8_t>(label));
    }
  }
  const Batch<T> batch = {.inputs = inputs, .labels = labels, .samples = {}};
  BoundModel<T> model({kSide, kSide, 1}, {convolution(8, 3), relu(), max_pool(3), dense(16), relu(),
                                          dense(4, Initializer::kGlorot)});
  model->initialize(1);
  const double loss = model->evaluate(batch).loss;
  learn(model, batch, Adam{.learning_rate = 0.01}, 150);
  EXPECT_EQ(model->evaluate(batch).correct, labels.size());
  EXPECT_LT(model->evaluate(batch).loss, loss / 20);
}

}  // namespace
}  // namespace rota
