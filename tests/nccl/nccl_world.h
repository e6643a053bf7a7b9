// Worlds of threads whose plan is nccl, over the fake NCCL and the fake device.
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <rota/communicator.h>

#include "communicator/shared_world.h"
#include "nccl/on_device.h"
#include "testing/fake_device.h"
#include "testing/fake_nccl.h"
#include "testing/on_every_rank.h"
#include "testing/tcp_world.h"

namespace rota::testing {

class NcclTest : public ::testing::Test {
 protected:
  NcclTest() { fake_device = &device_; }
  ~NcclTest() override { fake_device = nullptr; }

  static std::vector<Communicator> world(
      std::size_t world_size, const std::string& transport = "tcp",
      std::chrono::milliseconds deadline = std::chrono::seconds(20),
      const std::string& plan = "nccl") {
    CommunicatorOptions options;
    options.plan = plan;
    options.deadline = deadline;
    if (transport == "tcp") return tcp_world_of(world_size, options);
    return ThreadWorld::make({.world_size = world_size, .communicator = options});
  }

  // Returns values on the device of this number.
  DeviceBlock block_of(const std::vector<float>& values, std::size_t device) {
    DeviceBlock block =
        allocate_device(values.size() * sizeof(float), static_cast<std::uint8_t>(device));
    device_.write(block.as<float>(), values);
    return block;
  }

  FakeDevice device_{{.device_count = kFakeDevices}};
};

}  // namespace rota::testing
