// A model on a device computes what the same model computes on the host, and the host waits only
// for scores.
#include <rota/model.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <rota/device_memory.h>

#include "nn/bound_model.h"
#include "testing/error_of.h"
#include "testing/fake_device.h"

namespace rota {
namespace {

using testing::BoundModel;
using testing::error_of;
using testing::FakeCall;
using testing::FakeDevice;
using ::testing::HasSubstr;
using testing::RandomSamples;

// A model whose parameters and gradients are on device 0.
class DeviceModel {
 public:
  DeviceModel(FakeDevice& fake, ImageShape input, const std::vector<Layer>& layers)
      : fake_(fake), model_(input, layers, MemoryKind::of_device(0)) {
    for (std::size_t i = 0; i < model_.parameters().size(); ++i) {
      const std::size_t bytes = model_.parameters()[i].count() * sizeof(float);
      values_.push_back(allocate_device(bytes));
      gradients_.push_back(allocate_device(bytes));
      fake_.write(gradients_[i].as<float>(), std::vector<float>(bytes / sizeof(float), -7));
      model_.bind(i, values_[i].as<float>(), gradients_[i].as<float>());
    }
    model_.initialize(1);
  }

  Model<float>* operator->() noexcept { return &model_; }
  std::vector<float> values(std::size_t i) const { return fake_.read(values_[i].as<float>()); }
  std::vector<float> gradient(std::size_t i) const { return fake_.read(gradients_[i].as<float>()); }

 private:
  FakeDevice& fake_;
  std::vector<DeviceBlock> values_;
  std::vector<DeviceBlock> gradients_;
  Model<float> model_;
};

struct DeviceCase {
  std::string name;
  ImageShape input;
  std::vector<Layer> layers;
  std::size_t samples;
};

std::ostream& operator<<(std::ostream& out, const DeviceCase& test) { return out << test.name; }

class DeviceModels : public ::testing::TestWithParam<DeviceCase> {};

void expect_near(const std::vector<float>& there, std::span<const float> here,
                 const std::string& what) {
  ASSERT_EQ(there.size(), here.size()) << what;
  for (std::size_t i = 0; i < here.size(); ++i) {
    ASSERT_NEAR(there[i], here[i], 2e-5 * std::max(1.0F, std::abs(here[i]))) << what << " " << i;
  }
}

// Two batches whose gradients are added: the second has other samples, and a smaller number.
TEST_P(DeviceModels, HaveTheScoresAndGradientsOfTheHost) {
  const DeviceCase& test = GetParam();
  FakeDevice fake;
  BoundModel<float> here(test.input, test.layers);
  here->initialize(1);
  DeviceModel there(fake, test.input, test.layers);
  const RandomSamples<float> first(test.samples, test.input.count(), here->classes());
  const RandomSamples<float> second((test.samples + 1) / 2, test.input.count(), here->classes(), 8);
  Score expected = here->train(first.batch(5), nullptr);
  const Score more = here->train(second.batch(6), nullptr, Gradients::kAdd);

  EXPECT_EQ(there->forward(first.batch(5)).samples, test.samples);
  there->backward(nullptr);
  there->forward(second.batch(6));
  std::vector<std::size_t> announced;
  there->backward([&](std::size_t index) { announced.push_back(index); }, Gradients::kAdd);
  const Score score = there->late_score();
  EXPECT_NEAR(score.loss, expected.loss + more.loss, 1e-5 * (expected.loss + more.loss));
  EXPECT_EQ(score.correct, expected.correct + more.correct);
  EXPECT_EQ(score.samples, expected.samples + more.samples);
  EXPECT_EQ(announced.size(), here.parameter_count());

  const Score evaluated = there->evaluate(first.batch());
  expected = here->evaluate(first.batch());
  EXPECT_NEAR(evaluated.loss, expected.loss, 1e-5 * expected.loss);
  EXPECT_EQ(evaluated.correct, expected.correct);
  expect_near(there->predict({.inputs = first.inputs}), here->predict({.inputs = first.inputs}),
              "logit");
  for (std::size_t i = 0; i < here.parameter_count(); ++i) {
    expect_near(there.values(i), here.values(i), "value");
    expect_near(there.gradient(i), here.gradient(i), here->parameters()[i].name);
  }
  EXPECT_EQ(fake.crime(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Layers, DeviceModels,
    ::testing::Values(
        DeviceCase{"dense", {1, 1, 20}, {dense(3)}, 7},
        DeviceCase{"two dense", {1, 1, 20}, {dense(300), relu(), dense(3)}, 150},
        DeviceCase{"sigmoid", {1, 1, 20}, {dense(9), sigmoid(), dense(3)}, 7},
        DeviceCase{"activation first", {1, 1, 20}, {relu(), sigmoid(), relu(), dense(3)}, 7},
        DeviceCase{"dropout", {1, 1, 20}, {dropout(0.3), dense(30), dropout(0.5), dense(3)}, 9},
        DeviceCase{"convolution", {7, 6, 1}, {convolution(4, 3), relu(), dense(3)}, 5},
        DeviceCase{"two convolutions",
                   {9, 8, 2},
                   {convolution(16, 5), relu(), max_pool(2), convolution(16, 3), dense(3)},
                   3},
        DeviceCase{
            "pooling that cuts off", {7, 5, 4}, {convolution(4, 3), max_pool(2), dense(3)}, 5}));

// The host puts a whole step on the stream while the device does nothing.
TEST(DeviceModel, WaitsForNothingButTheScore) {
  FakeDevice fake;
  DeviceModel model(fake, {6, 6, 1}, {convolution(2, 3), relu(), dense(3)});
  const RandomSamples<float> samples(10, 36, 3);
  model->forward(samples.batch());  // The first pass makes room, and waits for the device.
  model->late_score();
  fake.hold();
  const Score early = model->forward(samples.batch());
  model->backward(nullptr);
  EXPECT_EQ(early.samples, 10U);
  EXPECT_EQ(early.loss, 0);
  fake.release();
  EXPECT_GT(model->late_score().loss, 0);
  EXPECT_EQ(model->late_score().samples, 0U) << "a score is returned once";
}

// The host is ahead of the device: batches wait in pinned memory, and memory grows while work that
// uses it is under way.
void expect_sums_of_growing_batches(const std::vector<Layer>& layers) {
  FakeDevice fake;
  BoundModel<float> here({6, 6, 1}, layers);
  here->initialize(1);
  DeviceModel there(fake, {6, 6, 1}, layers);
  double loss = 0;
  for (const std::size_t count : {2, 3, 3, 3, 3, 3, 9, 9, 30}) {
    const RandomSamples<float> samples(count, 36, 3, static_cast<unsigned>(loss * 1000));
    const Gradients gradients = loss == 0 ? Gradients::kOverwrite : Gradients::kAdd;
    loss += here->train(samples.batch(), nullptr, gradients).loss;
    there->forward(samples.batch());
    there->backward(nullptr, gradients);
  }
  EXPECT_NEAR(there->late_score().loss, loss, 1e-5 * loss);
  there->evaluate(RandomSamples<float>(1, 36, 3).batch());  // Waits for the backward passes.
  for (std::size_t i = 0; i < here.parameter_count(); ++i) {
    expect_near(there.gradient(i), here.gradient(i), here->parameters()[i].name);
  }
  EXPECT_EQ(fake.crime(), "");
}

TEST(DeviceModel, AddsMicroBatchesThatGrow) {
  expect_sums_of_growing_batches({dense(5), relu(), dense(3)});
  expect_sums_of_growing_batches({convolution(3, 3), relu(), dense(3)});
}

// Calls `passes` while the device does nothing. The device goes on once the host waits for it,
// which shows as many questions for events, or once `passes` has returned.
void while_nothing_is_done(FakeDevice& fake, const std::function<void()>& passes) {
  constexpr std::size_t kQuestionsOfAWait = 200;
  const std::size_t before = fake.count(FakeCall::kTest);
  fake.hold();
  const std::jthread device([&](const std::stop_token& is_over) {
    while (!is_over.stop_requested() && fake.count(FakeCall::kTest) < before + kQuestionsOfAWait) {
      std::this_thread::yield();
    }
    fake.release();
  });
  passes();
}

// Two batches wait in pinned memory, so the third waits until the first one is copied.
TEST(DeviceModel, OverwritesNoBatchBeforeItIsCopied) {
  FakeDevice fake;
  const std::vector<Layer> layers = {dense(3)};
  BoundModel<float> here({6, 6, 1}, layers);
  here->initialize(1);
  DeviceModel there(fake, {6, 6, 1}, layers);
  there->forward(RandomSamples<float>(3, 36, 3).batch());  // The first pass waits for the device.
  there->late_score();
  double loss = 0;
  while_nothing_is_done(fake, [&] {
    for (const unsigned seed : {1U, 2U, 3U}) {
      const RandomSamples<float> samples(3, 36, 3, seed);
      loss += here->evaluate(samples.batch()).loss;
      there->forward(samples.batch());
    }
  });
  EXPECT_NEAR(there->late_score().loss, loss, 1e-5 * loss);
  EXPECT_EQ(fake.crime(), "");
}

TEST(DeviceModel, KeepsMemoryUntilEarlierWorkHasEnded) {
  FakeDevice fake;
  DeviceModel model(fake, {6, 6, 1}, {dense(5), relu(), dense(3)});
  model->forward(RandomSamples<float>(2, 36, 3).batch());
  model->late_score();
  while_nothing_is_done(fake, [&] {
    for (const std::size_t count : {2, 30}) {
      model->forward(RandomSamples<float>(count, 36, 3).batch());
    }
  });
  EXPECT_EQ(model->late_score().samples, 32U);
  EXPECT_EQ(fake.crime(), "");
}

TEST(DeviceModel, KeepsTheScoreOfAStepBeforeAnEvaluation) {
  FakeDevice fake;
  DeviceModel model(fake, {1, 1, 8}, {dense(3)});
  const RandomSamples<float> samples(10, 8, 3);
  const double alone = model->train(samples.batch(), nullptr).loss;
  model->forward(samples.batch());
  model->backward(nullptr);
  EXPECT_EQ(model->evaluate(samples.batch()).loss, alone);
  model->forward(samples.batch());
  model->backward(nullptr, Gradients::kAdd);
  const Score both = model->late_score();
  EXPECT_NEAR(both.loss, 2 * alone, 1e-12 * alone);
  EXPECT_EQ(both.samples, 20U);
}

// The prediction has more samples than the step, so the memory of the step grows.
TEST(DeviceModel, KeepsTheScoreOfAStepBeforeAPrediction) {
  FakeDevice fake;
  DeviceModel model(fake, {1, 1, 8}, {dense(3)});
  const RandomSamples<float> samples(10, 8, 3);
  const double alone = model->evaluate(samples.batch()).loss;
  model->forward(samples.batch());
  model->backward(nullptr);
  const RandomSamples<float> others(230, 8, 3, 8);
  EXPECT_EQ(model->predict({.inputs = others.inputs}).size(), 690U);
  const Score kept = model->late_score();
  EXPECT_EQ(kept.loss, alone);
  EXPECT_EQ(kept.samples, 10U);
  EXPECT_EQ(fake.crime(), "");
}

TEST(DeviceModel, TakesPixelsAsBytes) {
  FakeDevice fake;
  DeviceModel model(fake, {1, 1, 37}, {dense(3)});
  std::vector<std::uint8_t> pixels;
  std::vector<float> inputs;
  for (std::size_t i = 0; i < 370; ++i) {
    pixels.push_back(static_cast<std::uint8_t>(i * 31));
    inputs.push_back(static_cast<float>(pixels.back()) / 255.0F);
  }
  const std::vector<std::uint8_t> labels = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0};
  const double expected = model->evaluate({.inputs = inputs, .labels = labels}).loss;
  EXPECT_EQ(model->evaluate({.labels = labels, .pixels = pixels}).loss, expected);
  EXPECT_EQ(model->predict({.pixels = pixels}), model->predict({.inputs = inputs}));
  const auto error =
      error_of([&] { model->evaluate({.labels = labels, .pixels = std::span(pixels).first(36)}); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(
      error->what(),
      "a batch of 10 labels has 36 pixels; this model takes 37 for each sample, and either "
      "pixels or input values");
}

TEST(DeviceModel, GivesZerosForAnEmptyBatch) {
  FakeDevice fake;
  DeviceModel model(fake, {1, 1, 8}, {dense(3)});
  EXPECT_EQ(model->forward({}).samples, 0U);
  model->backward(nullptr);
  EXPECT_EQ(model->late_score().samples, 0U);
  const RandomSamples<float> samples(1, 8, 3);
  model->evaluate(samples.batch());  // Waits for the stream.
  EXPECT_EQ(model.gradient(0), std::vector<float>(24, 0));
}

TEST(DeviceModel, GivesBackWhatItTook) {
  FakeDevice fake;
  {
    DeviceModel model(fake, {6, 6, 1}, {convolution(2, 3), dropout(0.5), dense(3)});
    const RandomSamples<float> samples(10, 36, 3);
    model->forward(samples.batch());
    model->backward(nullptr);
  }
  EXPECT_EQ(fake.open_things(), 0U);
  EXPECT_EQ(fake.crime(), "");
}

std::string refusal_of(const std::function<void()>& call) {
  const auto error = error_of(call);
  return error ? error->what() : "";
}

TEST(DeviceModel, RefusesWhatItCannotDo) {
  FakeDevice fake;
  const std::vector<Layer> layers = {dense(3)};
  EXPECT_EQ(refusal_of([&] {
              Model<double>({1, 1, 8}, layers, MemoryKind::of_device(0));
            }),
            "a model on a device computes in float: make a Model<float>");
  EXPECT_THAT(refusal_of([&] {
                Model<float>({1, 1, 8}, layers, MemoryKind::of_device(2));
              }),
              HasSubstr("device 2"));
  Model<float> there({1, 1, 8}, layers, MemoryKind::of_device(1));
  const testing::AlignedValues<float> memory(24);
  EXPECT_EQ(refusal_of([&] { there.bind(0, memory.span(), memory.span()); }),
            "parameter 0.dense.weights is bound to memory of the host, but the model computes on "
            "device 1");
  const DeviceBlock block = allocate_device(24 * sizeof(float), 0);
  EXPECT_EQ(refusal_of([&] { there.bind(0, block.as<float>(), block.as<float>()); }),
            "parameter 0.dense.weights is bound to memory of device 0, but the model computes on "
            "device 1");
  BoundModel<float> here({1, 1, 8}, layers);
  const std::vector<std::uint8_t> pixels(8);
  const std::vector<std::uint8_t> labels(1);
  EXPECT_EQ(refusal_of([&] { here->evaluate({.labels = labels, .pixels = pixels}); }),
            "a model on the host takes inputs, not pixels");
}

// The table of another library may have no functions for models, or find no cuBLAS.
TEST(DeviceModel, SaysThatProductsAreMissing) {
  FakeDevice fake;
  static cuda::Calls without = FakeDevice::calls();
  const auto make = [] { Model<float>({1, 1, 8}, {dense(3)}, MemoryKind::of_device(0)); };
  without.models.make_products = [](const cuda::On&, cuda::Handle&) noexcept {
    return cuda::kNoProducts;
  };
  cuda::use(without);
  EXPECT_EQ(refusal_of(make),
            "models cannot be trained on device 0: there is no libcublas.so.13, which computes "
            "products of matrices; install cuBLAS, or add its folder to LD_LIBRARY_PATH");
  without.models = {};
  EXPECT_EQ(refusal_of(make),
            "models cannot be trained on a device: the library in use, a fake device, has no "
            "functions for models");
  cuda::use(FakeDevice::calls());
}

TEST(DeviceModel, EndsWhenTheDeviceFails) {
  FakeDevice fake;
  DeviceModel model(fake, {1, 1, 8}, {dense(3)});
  const RandomSamples<float> samples(10, 8, 3);
  model->train(samples.batch(), nullptr);
  fake.fault();
  const auto error = error_of([&] { model->train(samples.batch(), nullptr); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kSystem);
  EXPECT_THAT(error->what(), HasSubstr("device 0: "));
}

}  // namespace
}  // namespace rota
