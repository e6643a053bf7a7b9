// Steps that repeat CUDA graphs have the bits of steps whose kernels are launched one by one. On a
// GPU, ./dev gpu runs this program too.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <rota/idx.h>
#include <rota/replica.h>

#include "mnist/models.h"
#include "testing/paths.h"
#include "testing/test_device.h"

namespace rota {
namespace {

using testing::TestDevice;

const Dataset& digits() {
  static const TrainAndTest kAll = read_idx_folder(testing::source_path("examples/mnist/data"));
  return kAll.train;
}

// The table in use, with or without graphs. It counts their launches.
std::atomic<std::size_t> graph_launches{0};
const cuda::Calls* real_calls = nullptr;

void use_graphs(const cuda::Calls& calls, bool are_used) {
  static cuda::Calls with;
  static cuda::Calls without;
  real_calls = &calls;
  with = calls;
  with.launch_graph = [](const cuda::On& on, cuda::Handle graph) noexcept {
    ++graph_launches;
    return real_calls->launch_graph(on, graph);
  };
  without = calls;
  without.begin_capture = nullptr;
  without.end_capture = nullptr;
  without.launch_graph = nullptr;
  without.destroy_graph = nullptr;
  cuda::use(are_used ? with : without);
}

// A model of the example that also drops pixels, and units before the last layer.
std::vector<Layer> layers_that_drop(const std::string& model) {
  std::vector<Layer> layers = layers_of(model, digits().classes);
  layers.insert(layers.end() - 1, dropout(0.4));
  layers.insert(layers.begin(), dropout(0.1));
  return layers;
}

// Takes steps on the first images, and notes the bits of all that a user sees.
class Steps {
 public:
  explicit Steps(const std::string& model)
      : replica_(communicator_,
                 Model<float>(digits().shape, layers_that_drop(model), MemoryKind::of_device(0)),
                 {.optimizer = Sgd{.learning_rate = 0.02, .momentum = 0.9}, .seed = 3}) {}

  void take(std::size_t samples, double learning_rate_factor = 1) {
    ++step_;
    const Score score =
        replica_.step(batch_of(samples),
                      {.epoch = 1, .step = step_, .learning_rate_factor = learning_rate_factor});
    losses.push_back(score.loss);
    hashes.push_back(replica_.weights_hash());
  }
  // Takes a step of two micro-batches.
  void take_in_two(std::size_t samples) {
    replica_.accumulate(batch_of(samples));
    take(samples);
  }
  void evaluate(std::size_t samples) {
    losses.push_back(replica_.evaluate(batch_of(samples)).loss);
  }
  State state() { return replica_.state(); }
  void go_on_from(const State& state) { replica_.give_state(state); }

  std::vector<double> losses;
  std::vector<std::uint64_t> hashes;

 private:
  // Each batch has other images, and the same number of steps has the same images.
  Batch<float> batch_of(std::size_t samples) {
    identities_.resize(samples);
    std::iota(identities_.begin(), identities_.end(), first_);
    const std::size_t count = digits().shape.count();
    const std::span<const std::uint8_t> pixels(digits().pixels);
    const std::span<const std::uint8_t> labels(digits().labels);
    const Batch<float> batch = {.labels = labels.subspan(first_, samples),
                                .samples = identities_,
                                .seed = 17,
                                .step = step_,
                                .pixels = pixels.subspan(first_ * count, samples * count)};
    first_ += samples;
    return batch;
  }

  Communicator communicator_{CommunicatorOptions{}};
  Replica<float> replica_;
  std::vector<std::uint64_t> identities_;
  std::size_t first_ = 0;
  std::size_t step_ = 0;
};

struct Seen {
  std::vector<double> losses;
  std::vector<std::uint64_t> hashes;
  std::size_t launches = 0;
};

template <class Take>
Seen seen_in(const std::string& model, bool uses_graphs, Take take) {
  TestDevice device;
  use_graphs(device.calls(), uses_graphs);
  graph_launches = 0;
  Seen seen;
  {
    Steps steps(model);
    take(steps);
    seen = {steps.losses, steps.hashes, graph_launches};
  }
  cuda::use(device.calls());
  EXPECT_EQ(device.crime(), "");
  return seen;
}

// Takes the same steps with and without graphs.
template <class Take>
void expect_same_bits(const std::string& model, std::size_t launches, Take take) {
  const Seen plain = seen_in(model, false, take);
  const Seen seen = seen_in(model, true, take);
  EXPECT_EQ(plain.launches, 0U);
  EXPECT_EQ(seen.launches, launches);
  EXPECT_EQ(seen.losses, plain.losses);
  EXPECT_EQ(seen.hashes, plain.hashes);
}

class GraphTraining : public ::testing::TestWithParam<std::string> {};

// In an epoch, the last batch is smaller, and the learning rate is another one. Then a state of the
// same replica, which keeps its graphs, is given back.
TEST_P(GraphTraining, HasTheBitsOfPlainSteps) {
  // In the forward and in the backward pass: all steps but the first one of each size.
  constexpr std::size_t kLaunches = 2 * (8 - 1 + 3 - 1);
  expect_same_bits(GetParam(), kLaunches, [](Steps& steps) {
    State state;
    for (std::size_t epoch = 1; epoch <= 3; ++epoch) {
      if (epoch == 3) state = steps.state();
      const double factor = 1 / static_cast<double>(epoch);
      steps.take(2, factor);
      steps.take(2, factor);
      steps.take(1, factor);
      steps.evaluate(2);
    }
    steps.go_on_from(state);
    steps.take(2);
    steps.take(2);
  });
}

INSTANTIATE_TEST_SUITE_P(Models, GraphTraining, ::testing::Values("mlp", "lenet"),
                         [](const auto& model) { return model.param; });

// The passes of a step differ: the first one begins the score and the gradients, the second one
// adds to them. A batch for which memory grows drops all graphs.
TEST(GraphMicroBatches, HaveTheBitsOfPlainSteps) {
  constexpr std::size_t kLaunches = 2 * 4 + 2;
  expect_same_bits("seed", kLaunches, [](Steps& steps) {
    for (const std::size_t samples : {3, 3, 3, 7, 7}) {
      if (samples == 3) steps.take_in_two(samples);
      if (samples == 7) steps.take(samples);
    }
  });
}

}  // namespace
}  // namespace rota
