// A step on a device that is far behind the host: nothing leaves or changes before the device has
// come to it.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include <rota/replica.h>

#include "nn/bound_model.h"
#include "testing/fake_device.h"
#include "testing/on_every_rank.h"
#include "testing/tcp_world.h"

namespace rota {
namespace {

using testing::FakeDevice;
using testing::RandomSamples;

// Many layers, so that a backward pass takes long.
std::vector<Layer> deep_layers() {
  std::vector<Layer> layers;
  for (int i = 0; i < 10; ++i) layers.insert(layers.end(), {dense(9), relu()});
  layers.push_back(dense(3));
  return layers;
}

// Returns the weights of both ranks after three steps. Rank 0 is at `place`, rank 1 on the host.
std::vector<std::vector<float>> weights_after_steps(MemoryKind place) {
  CommunicatorOptions options;
  options.deadline = std::chrono::seconds(40);
  std::vector<Communicator> world = testing::tcp_world_of(2, options);
  std::vector<std::vector<float>> weights(2);
  testing::on_every_rank(world, [&](Communicator& communicator) {
    const std::size_t rank = communicator.rank();
    Replica<float> replica(
        communicator, Model<float>({1, 1, 12}, deep_layers(), rank == 0 ? place : MemoryKind()),
        {.optimizer = Sgd{.learning_rate = 0.1, .momentum = 0.5},
         .buckets = {.first_bucket_bytes = 1 << 20}});  // One bucket, which is full at the end.
    for (std::size_t step = 1; step <= 3; ++step) {
      const RandomSamples<float> samples(5, 12, 3, static_cast<unsigned>(10 * rank + step));
      replica.step(samples.batch(step), {.epoch = 1, .step = step});
    }
    for (std::size_t i = 0; i < replica.model().parameters().size(); ++i) {
      const auto values = replica.values(i);
      weights[rank].insert(weights[rank].end(), values.begin(), values.end());
    }
  });
  return weights;
}

TEST(SlowDevice, TakesTheStepsOfTheHost) {
  FakeDevice fake(
      {.bytes_a_millisecond = 32 * 1024});  // Half a millisecond for each piece of work.
  const auto here = weights_after_steps({});
  const auto there = weights_after_steps(MemoryKind::of_device(0));
  EXPECT_EQ(there[0], there[1]) << "the same bits on both ranks";
  ASSERT_EQ(there[0].size(), here[0].size());
  for (std::size_t i = 0; i < here[0].size(); ++i) ASSERT_NEAR(there[0][i], here[0][i], 1e-5) << i;
  EXPECT_EQ(fake.crime(), "");
}

}  // namespace
}  // namespace rota
