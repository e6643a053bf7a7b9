// A model on a device launches a few graphs in a step and not each kernel. What a device refuses or
// what a program changes makes steps slower at most, and never wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <rota/device_memory.h>
#include <rota/replica.h>

#include "device/stream.h"
#include "nn/bound_model.h"
#include "testing/fake_device.h"

namespace rota {
namespace {

using testing::FakeCall;
using testing::FakeDevice;
using testing::RandomSamples;

constexpr ImageShape kInput = {6, 6, 1};
constexpr std::size_t kSamples = 5;
const std::vector<Layer> kGraphLayers = {convolution(2, 3), relu(),  dense(7), relu(),
                                         dropout(0.3),      dense(3)};

// Returns the weights after steps, each on other samples.
std::vector<float> weights_after(const std::vector<std::size_t>& batches) {
  Communicator alone{CommunicatorOptions{}};
  Replica<float> replica(alone, Model<float>(kInput, kGraphLayers, MemoryKind::of_device(0)),
                         {.optimizer = Sgd{.learning_rate = 0.1, .momentum = 0.5}});
  for (std::size_t step = 1; step <= batches.size(); ++step) {
    const RandomSamples<float> samples(batches[step - 1], kInput.count(), 3,
                                       static_cast<unsigned>(step));
    replica.step(samples.batch(step), {.epoch = 1, .step = step});
  }
  std::vector<float> weights;
  for (std::size_t i = 0; i < replica.model().parameters().size(); ++i) {
    const auto values = replica.values(i);
    weights.insert(weights.end(), values.begin(), values.end());
  }
  return weights;
}

const std::vector<std::size_t> kFiveSteps(5, kSamples);

const cuda::Calls& calls_without_graphs() {
  static const cuda::Calls kCalls = [] {
    cuda::Calls without = FakeDevice::calls();
    without.begin_capture = nullptr;
    without.end_capture = nullptr;
    without.launch_graph = nullptr;
    without.destroy_graph = nullptr;
    return without;
  }();
  return kCalls;
}

// Returns the weights after five steps without graphs.
const std::vector<float>& plain_weights() {
  static const std::vector<float> kWeights = [] {
    const FakeDevice fake;
    cuda::use(calls_without_graphs());
    return weights_after(kFiveSteps);
  }();
  return kWeights;
}

// Returns the calls that put the copies, kernels and graphs of one later step on the stream.
std::vector<std::size_t> calls_of_a_step(const FakeDevice& fake) {
  const std::array kinds{FakeCall::kCopy, FakeCall::kKernel, FakeCall::kLaunchGraph};
  const auto calls_of = [&](std::size_t steps) {
    std::vector<std::size_t> calls;
    calls.reserve(kinds.size());
    for (const FakeCall kind : kinds) calls.push_back(fake.count(kind));
    weights_after(std::vector<std::size_t>(steps, kSamples));
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i] = fake.count(kinds[i]) - calls[i];
    return calls;
  };
  const std::vector<std::size_t> before = calls_of(3);
  std::vector<std::size_t> calls = calls_of(4);
  for (std::size_t i = 0; i < calls.size(); ++i) calls[i] -= before[i];
  return calls;
}

// The copy of a batch; the draws of dropout, and the update of the only bucket; the forward and the
// backward pass.
TEST(Graphs, TakeAFewCallsForAStep) {
  FakeDevice fake;
  EXPECT_EQ(calls_of_a_step(fake), (std::vector<std::size_t>{1, 2, 2}));
  cuda::use(calls_without_graphs());
  const std::vector<std::size_t> plain = calls_of_a_step(fake);
  EXPECT_GT(plain[1], 20U);
  EXPECT_EQ(plain[2], 0U);
  EXPECT_EQ(fake.crime(), "");
}

TEST(Graphs, HaveTheBitsOfPlainSteps) {
  const std::vector<float>& plain = plain_weights();
  FakeDevice fake;
  EXPECT_EQ(weights_after(kFiveSteps), plain);
  EXPECT_EQ(fake.count(FakeCall::kLaunchGraph), 8U);
  EXPECT_EQ(fake.crime(), "");
  EXPECT_EQ(fake.open_things(), 0U);
}

// A device may refuse a capture when it begins, in the middle, and at its end.
class RefusedGraphs : public ::testing::TestWithParam<FakeCall> {};

TEST_P(RefusedGraphs, LeavePlainStepsAndOneLine) {
  const std::vector<float>& plain = plain_weights();
  FakeDevice fake;
  static FakeDevice* now = nullptr;
  static FakeCall failing{};
  now = &fake;
  failing = GetParam();
  static cuda::Calls calls = FakeDevice::calls();
  calls.begin_capture = [](const cuda::On& on) noexcept {
    if (failing == FakeCall::kBeginCapture) now->fail(failing);
    const int error = FakeDevice::calls().begin_capture(on);
    if (failing != FakeCall::kBeginCapture) now->fail(failing);
    return error;
  };
  cuda::use(calls);
  ::testing::internal::CaptureStderr();
  const std::vector<float> weights = weights_after(kFiveSteps);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(
      said.starts_with("rota: warning: device 0 makes no graph of a training step, so "
                       "small steps are slower: "))
      << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), 1);
  cuda::use(FakeDevice::calls());
  EXPECT_EQ(weights, plain);
  EXPECT_EQ(fake.count(FakeCall::kBeginCapture), 1U) << "it is not tried again";
  EXPECT_EQ(fake.count(FakeCall::kLaunchGraph), 0U);
  EXPECT_EQ(fake.crime(), "");
  EXPECT_EQ(fake.open_things(), 0U);
}

INSTANTIATE_TEST_SUITE_P(When, RefusedGraphs,
                         ::testing::Values(FakeCall::kBeginCapture, FakeCall::kKernel,
                                           FakeCall::kEndCapture));

TEST(Graphs, EndWhenMemoryIsMadeAnew) {
  FakeDevice fake({.reuses_addresses = true});
  weights_after({5, 5, 5, 9, 9, 5, 5});
  EXPECT_EQ(fake.crime(), "");
  // In each pass: the second and the third batch, then the fifth, then the last one.
  EXPECT_EQ(fake.count(FakeCall::kLaunchGraph), 8U);
  EXPECT_EQ(fake.open_things(), 0U);
}

// A model and memory for its parameters. Values and gradients begin with 0.
class OwnMemory {
 public:
  explicit OwnMemory(const std::vector<Layer>& layers)
      : model_({1, 1, 8}, layers, MemoryKind::of_device(0)) {
    for (const ParameterInfo& parameter : model_.parameters()) {
      values_.push_back(allocate_device(parameter.count() * sizeof(float)));
      gradients_.push_back(allocate_device(parameter.count() * sizeof(float)));
    }
    for (std::size_t i = 0; i < values_.size(); ++i) bind(i, gradients_[i]);
  }

  void bind(std::size_t index, const DeviceBlock& gradient, cuda::Handle event = 0) {
    model_.bind(index, values_[index].as<float>(), gradient.as<float>(), event);
  }
  const DeviceBlock& gradient(std::size_t index) const { return gradients_[index]; }
  // Passes of one batch. They are under way when the function returns.
  void train(const std::function<void(std::size_t)>& gradient_ready = {}) {
    model_.forward(samples_.batch());
    model_.backward(gradient_ready);
  }
  void wait() { model_.evaluate(samples_.batch()); }

 private:
  RandomSamples<float> samples_{4, 8, 3};
  std::vector<DeviceBlock> values_;
  std::vector<DeviceBlock> gradients_;
  Model<float> model_;
};

TEST(Graphs, UseTheMemoryThatWasBoundLast) {
  FakeDevice fake;
  OwnMemory model({dense(3)});
  for (int step = 0; step < 3; ++step) {
    model.train();
    model.wait();
  }
  const DeviceBlock other = allocate_device(24 * sizeof(float));
  model.bind(0, other);
  model.train();
  model.wait();
  EXPECT_EQ(fake.read(other.as<float>()), fake.read(model.gradient(0).as<float>()));
  EXPECT_NE(fake.read(other.as<float>()), std::vector<float>(24, 0));
  EXPECT_EQ(fake.count(FakeCall::kLaunchGraph), 4U);
  EXPECT_EQ(fake.crime(), "");
}

// The event of a gradient happens in the middle of a pass, even if the pass is one launch.
TEST(Graphs, RecordTheEventsOfGradients) {
  FakeDevice fake({.has_thread = false});
  const auto work_off = [&](const std::stop_token& stop) {
    while (!stop.stop_requested()) fake.work();
  };
  std::jthread worker(work_off);
  const device::Event last(0);
  const device::Event first(0);
  OwnMemory model({dense(7), relu(), dense(3)});
  model.bind(2, model.gradient(2), last.handle());
  model.bind(0, model.gradient(0), first.handle());
  for (int step = 0; step < 3; ++step) {
    model.train();
    model.wait();
  }
  EXPECT_EQ(fake.count(FakeCall::kLaunchGraph), 4U);
  worker.request_stop();
  worker.join();

  model.train();
  EXPECT_EQ(fake.count(FakeCall::kLaunchGraph), 6U);
  EXPECT_FALSE(last.has_happened());
  while (!last.has_happened()) ASSERT_TRUE(fake.work());
  EXPECT_FALSE(first.has_happened());
  while (fake.work()) continue;
  EXPECT_TRUE(first.has_happened());
  EXPECT_EQ(fake.crime(), "");
  worker = std::jthread(work_off);
}

// A program that is told of each gradient, and gives no events, follows the pass on the stream.
TEST(Graphs, AreNotForBackwardPassesThatAProgramFollows) {
  FakeDevice fake;
  OwnMemory model({dense(7), dense(3)});
  for (int step = 0; step < 3; ++step) {
    std::vector<std::size_t> kernels;
    model.train([&](std::size_t) { kernels.push_back(fake.count(FakeCall::kKernel)); });
    model.wait();
    ASSERT_EQ(kernels.size(), 4U);
    EXPECT_LT(kernels.front(), kernels.back());
  }
  EXPECT_EQ(fake.count(FakeCall::kLaunchGraph), 2U) << "forward passes";
}

}  // namespace
}  // namespace rota
