// Tests what a Model promises about memory, about its reports of finished gradients, and about its
// two forward passes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rota/error.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "bound_model.h"
#include "nn/softmax_cross_entropy.h"

namespace rota {
namespace {

using testing::AlignedValues;
using testing::BoundModel;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::RandomSamples;

constexpr ImageShape kImage = {9, 8, 2};

std::vector<Layer> small_net() {
  return {convolution(5, 3), relu(), max_pool(2), dense(20), relu(), dense(4)};
}

template <class Function>
std::string refusal(Function function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "nothing";
}

TEST(Model, AnnouncesEachGradientOnceAndTheLastLayersFirst) {
  BoundModel<float> model(kImage, small_net());
  model->initialize(1);
  const RandomSamples<float> samples(6, kImage.count(), 4);
  std::vector<std::size_t> announced;
  model->train(samples.batch(), [&](std::size_t index) { announced.push_back(index); });
  EXPECT_THAT(announced, ElementsAre(5, 4, 3, 2, 1, 0));
}

// Method: each announced gradient is overwritten immediately. If a gradient were read or written
// after its announcement, the spoilt values would change or would spoil other values.
TEST(Model, IsDoneWithAGradientWhenItAnnouncesIt) {
  BoundModel<double> quiet(kImage, small_net());
  BoundModel<double> spoilt(kImage, small_net());
  quiet->initialize(1);
  spoilt->initialize(1);
  const RandomSamples<double> samples(6, kImage.count(), 4);
  quiet->train(samples.batch(), nullptr);
  std::vector<std::vector<double>> announced(spoilt.parameter_count());
  spoilt->train(samples.batch(), [&](std::size_t index) {
    announced[index].assign(spoilt.gradient(index).begin(), spoilt.gradient(index).end());
    std::ranges::fill(spoilt.gradient(index), -77.0);
  });
  for (std::size_t i = 0; i < quiet.parameter_count(); ++i) {
    EXPECT_TRUE(std::ranges::equal(quiet.gradient(i), announced[i])) << i;
    EXPECT_EQ(std::ranges::count(spoilt.gradient(i), -77.0),
              static_cast<std::ptrdiff_t>(spoilt.gradient(i).size()));
  }
}

TEST(Model, GivesZerosForAnEmptyBatchAndAnnouncesThem) {
  BoundModel<float> model(kImage, small_net());
  model->initialize(1);
  std::vector<std::size_t> announced;
  const Score score = model->train({}, [&](std::size_t index) { announced.push_back(index); });
  EXPECT_EQ(score.samples, 0U);
  EXPECT_EQ(score.loss, 0);
  EXPECT_THAT(announced, ElementsAre(5, 4, 3, 2, 1, 0));
  for (std::size_t i = 0; i < model.parameter_count(); ++i) {
    EXPECT_EQ(std::ranges::count(model.gradient(i), 0.0F),
              static_cast<std::ptrdiff_t>(model.gradient(i).size()));
  }
  EXPECT_EQ(model->evaluate({}).samples, 0U);
}

// Gradients are sums: the gradients of two halves add up to the gradient of the whole, except for
// rounding.
TEST(Model, SumsGradientsOverTheBatch) {
  BoundModel<double> model(kImage, small_net());
  model->initialize(1);
  const RandomSamples<double> samples(7, kImage.count(), 4);
  const Batch<double> whole = samples.batch();
  const double loss = model->train(whole, nullptr).loss;
  std::vector<std::vector<double>> expected;
  for (std::size_t i = 0; i < model.parameter_count(); ++i) {
    expected.emplace_back(model.gradient(i).begin(), model.gradient(i).end());
  }
  double summed_loss = 0;
  for (const auto& [first, count] : {std::pair<std::size_t, std::size_t>{0, 3}, {3, 4}}) {
    Batch<double> part = whole;
    part.inputs = whole.inputs.subspan(first * kImage.count(), count * kImage.count());
    part.labels = whole.labels.subspan(first, count);
    part.samples = whole.samples.subspan(first, count);
    summed_loss += model->train(part, nullptr).loss;
    for (std::size_t i = 0; i < model.parameter_count(); ++i) {
      for (std::size_t k = 0; k < expected[i].size(); ++k) expected[i][k] -= model.gradient(i)[k];
    }
  }
  EXPECT_NEAR(summed_loss, loss, 1e-12);
  for (const std::vector<double>& rest : expected) {
    for (double value : rest) EXPECT_NEAR(value, 0, 1e-12);
  }
}

TEST(Model, EvaluatesAsItTrains) {
  BoundModel<float> model(kImage, small_net());
  model->initialize(1);
  const RandomSamples<float> samples(60, kImage.count(), 4);
  const Score trained = model->train(samples.batch(), nullptr);
  const Score evaluated = model->evaluate(samples.batch());
  EXPECT_EQ(evaluated.loss, trained.loss);
  EXPECT_EQ(evaluated.correct, trained.correct);
  EXPECT_EQ(evaluated.samples, 60U);
}

// There are more samples than are evaluated together, so the sums are grouped differently.
TEST(Model, EvaluatesAsManySamplesAsThereAre) {
  BoundModel<float> model(kImage, small_net());
  model->initialize(1);
  const RandomSamples<float> samples(257, kImage.count(), 4);
  const Score trained = model->train(samples.batch(), nullptr);
  const Score evaluated = model->evaluate(samples.batch());
  EXPECT_NEAR(evaluated.loss, trained.loss, 1e-6 * trained.loss);
  EXPECT_EQ(evaluated.correct, trained.correct);
  EXPECT_EQ(evaluated.samples, 257U);
}

// Nobody must take a loss for a number if one of the inputs is not.
TEST(Model, DoesNotHideANanByMaxPooling) {
  BoundModel<float> model({2, 2, 1}, {max_pool(2), dense(2)});
  model->initialize(1);
  const std::vector<std::uint8_t> labels = {1};
  for (std::size_t place = 0; place < 4; ++place) {
    std::vector<float> inputs = {1, 2, 3, 4};
    inputs[place] = std::numeric_limits<float>::quiet_NaN();
    const Score score = model->evaluate({.inputs = inputs, .labels = labels});
    EXPECT_TRUE(std::isnan(score.loss)) << "at " << place;
  }
}

// The score of the logits is the score of evaluate(). There are more samples than are predicted
// together, so the logits of a sample must not be written to the place of another one.
TEST(Model, PredictsTheLogitsThatItEvaluates) {
  BoundModel<float> model(kImage, small_net());
  model->initialize(1);
  const RandomSamples<float> samples(257, kImage.count(), 4);
  const std::vector<float> logits = model->predict({.inputs = samples.inputs});
  ASSERT_EQ(logits.size(), 257 * 4U);
  const Score score = nn::softmax_cross_entropy<float>(logits.data(), 4, samples.labels, nullptr);
  const Score evaluated = model->evaluate(samples.batch());
  EXPECT_EQ(score.correct, evaluated.correct);
  EXPECT_NEAR(score.loss, evaluated.loss, 1e-9 * evaluated.loss);
}

// The logits of one dense layer are known: inputs × weights + biases.
TEST(Model, PredictsInputsTimesWeightsPlusBiases) {
  BoundModel<double> model({1, 1, 2}, {dropout(0.5), dense(3)});
  std::ranges::copy(std::vector<double>{1, 2, 3, 10, 20, 30}, model.values(0).begin());
  std::ranges::copy(std::vector<double>{0.5, 0.25, 0}, model.values(1).begin());
  const std::vector<double> inputs = {1, 0, 2, -1};
  EXPECT_THAT(model->predict({.inputs = inputs}), ElementsAre(1.5, 2.25, 3, -7.5, -15.75, -24));
  EXPECT_THAT(model->predict({}), ElementsAre());
}

TEST(Model, LeavesDropoutOutWhenItEvaluates) {
  BoundModel<float> with({1, 1, 6}, {dense(30), dropout(0.5), dense(3)});
  BoundModel<float> without({1, 1, 6}, {dense(30), relu(), dense(3)});
  with->initialize(1);
  for (float& value : with.values(0)) value = std::abs(value);  // So relu() changes nothing.
  RandomSamples<float> samples(20, 6, 3);
  for (float& value : samples.inputs) value = std::abs(value);
  for (std::size_t i = 0; i < with.parameter_count(); ++i) {
    std::ranges::copy(with.values(i), without.values(i).begin());
  }
  EXPECT_EQ(with->evaluate(samples.batch()).loss, without->evaluate(samples.batch()).loss);
  EXPECT_NE(with->train(samples.batch(), nullptr).loss, with->evaluate(samples.batch()).loss);
  EXPECT_NE(with->train(samples.batch(1), nullptr).loss,
            with->train(samples.batch(2), nullptr).loss);
  EXPECT_EQ(with->train(samples.batch(1), nullptr).loss,
            with->train(samples.batch(1), nullptr).loss);
}

// Method: the two models have memory at different distances from a page boundary. The second model
// has seen other batches before, and its inputs are not aligned.
TEST(Model, GivesTheSameBitsWhereverItsMemoryIs) {
  BoundModel<float> first(kImage, small_net());
  BoundModel<float> second(kImage, small_net(), 5);
  first->initialize(1);
  second->initialize(1);
  const RandomSamples<float> samples(33, kImage.count(), 4);
  const RandomSamples<float> others(50, kImage.count(), 4, 8);
  second->train(others.batch(), nullptr);
  std::vector<float> shifted(samples.inputs.size() + 1);
  std::ranges::copy(samples.inputs, shifted.begin() + 1);
  Batch<float> batch = samples.batch();
  const Score expected = first->train(batch, nullptr);
  batch.inputs = std::span<const float>(shifted).subspan(1);
  EXPECT_EQ(second->train(batch, nullptr).loss, expected.loss);
  for (std::size_t i = 0; i < first.parameter_count(); ++i) {
    EXPECT_TRUE(std::ranges::equal(first.gradient(i), second.gradient(i))) << i;
  }
}

TEST(Model, CanBeMoved) {
  BoundModel<float> model(kImage, small_net());
  model->initialize(1);
  const RandomSamples<float> samples(5, kImage.count(), 4);
  const double loss = model->train(samples.batch(), nullptr).loss;
  Model<float> moved = std::move(*model);
  EXPECT_EQ(moved.train(samples.batch(), nullptr).loss, loss);
}

TEST(Model, RefusesMemoryThatDoesNotFit) {
  Model<float> model({1, 1, 4}, {dense(3)});
  const AlignedValues<float> exact(12);
  const AlignedValues<float> large(13);
  EXPECT_EQ(refusal([&] { model.bind(0, large.span(), exact.span()); }),
            "parameter 0.dense.weights has 12 values, but is bound to memory for 13");
  EXPECT_EQ(refusal([&] { model.bind(0, exact.span(), exact.span().first(11)); }),
            "parameter 0.dense.weights has 12 values, but is bound to memory for 11");
  EXPECT_EQ(refusal([&] { model.bind(0, exact.span(), large.span().subspan(1)); }),
            "parameter 0.dense.weights is bound to memory that is not 64-byte aligned");
  EXPECT_EQ(refusal([&] { model.bind(2, exact.span(), exact.span()); }),
            "parameter 2 cannot be bound: there are 2 parameters, numbered from 0");
}

TEST(Model, RefusesToWorkWithoutMemory) {
  Model<float> model({1, 1, 4}, {dense(3)});
  const AlignedValues<float> weights(12);
  model.bind(0, weights.span(), weights.span());
  const std::string expected = "parameter 0.dense.biases is not bound to memory yet";
  EXPECT_EQ(refusal([&] { model.initialize(1); }), expected);
  EXPECT_EQ(refusal([&] { model.train({}, nullptr); }), expected);
  EXPECT_EQ(refusal([&] { model.evaluate({}); }), expected);
  EXPECT_EQ(refusal([&] { model.predict({}); }), expected);
}

TEST(Model, RefusesBatchesThatDoNotFit) {
  BoundModel<float> model(kImage, {dropout(0.1), dense(4)});
  model->initialize(1);
  RandomSamples<float> samples(3, kImage.count(), 4);
  Batch<float> batch = samples.batch();
  batch.inputs = batch.inputs.first(100);
  EXPECT_EQ(refusal([&] { model->train(batch, nullptr); }),
            "a batch of 3 labels has 100 input values; this model takes 144 for each sample");
  EXPECT_EQ(refusal([&] { model->predict(batch); }),
            "a batch to predict has 100 input values; this model takes 144 for each sample");
  batch = samples.batch();
  batch.samples = {};
  EXPECT_EQ(refusal([&] { model->train(batch, nullptr); }),
            "a batch of 3 labels has 0 identities of samples; dropout needs one for each label");
  EXPECT_EQ(model->evaluate(batch).samples, 3U);
  samples.labels[2] = 4;
  const std::string refused = refusal([&] { model->evaluate(samples.batch()); });
  EXPECT_THAT(refused, HasSubstr("sample 2 of the batch has label 4; the model has 4 classes"));
}

}  // namespace
}  // namespace rota
