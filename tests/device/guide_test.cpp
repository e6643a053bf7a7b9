// The program of the guide that sums gradients on GPUs finds its line. Method: ranks are threads,
// connected over TCP. The gradients of ranks 1 and 2 are on the fake device.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <vector>

#include <rota/communicator.h>

#include "testing/fake_device.h"
#include "testing/on_every_rank.h"
#include "testing/tcp_world.h"

// These functions are in tests/docs/programs/gradients_on_gpus.cpp.
std::array<float, 2> fit_on_gpu(rota::Communicator& ranks);
std::array<float, 2> fit_on_cpu(rota::Communicator& ranks);

namespace rota {
namespace {

TEST(GuideToGpus, FitsALineOnDevicesAndOnTheHostTogether) {
  testing::FakeDevice fake;
  CommunicatorOptions options;
  options.deadline = std::chrono::seconds(20);
  auto world = testing::tcp_world_of(3, options);
  std::vector<std::array<float, 2>> lines(world.size());
  testing::on_every_rank(world, [&](Communicator& ranks) {
    lines[ranks.rank()] = ranks.rank() == 0 ? fit_on_cpu(ranks) : fit_on_gpu(ranks);
  });
  EXPECT_NEAR(lines[0][0], 3, 1e-3);
  EXPECT_NEAR(lines[0][1], 1, 1e-3);
  EXPECT_EQ(lines[1], lines[0]);
  EXPECT_EQ(lines[2], lines[0]);
  EXPECT_EQ(fake.crime(), "");
}

}  // namespace
}  // namespace rota
