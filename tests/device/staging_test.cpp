// The pinned memory through which messages of values on a device go is shared by the calls of a
// communicator, but never by two operations that are under way together.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <rota/communicator.h>
#include <rota/device_memory.h>

#include "communicator/shared_world.h"
#include "communicator/staging.h"
#include "testing/fake_device.h"
#include "testing/on_every_rank.h"
#include "testing/tcp_world.h"

namespace rota {
namespace {

using collectives::kMostRunning;
using testing::contribution_of;
using testing::FakeCall;
using testing::FakeDevice;

std::vector<Communicator> world_that_stages(std::size_t world_size) {
  CommunicatorOptions options;
  options.deadline = std::chrono::seconds(20);
  options.plan = "ring";
  return testing::tcp_world_of(world_size, options);
}

TEST(Staging, GivesOneMemoryToOperationsThatNeverRunTogether) {
  FakeDevice fake;
  const DeviceBlock use = allocate_device(1);  // Pinned memory takes a device that is in use.
  Staging staging;
  std::vector<std::shared_ptr<const Block>> first;
  for (std::uint64_t number = 1; number <= kMostRunning; ++number) {
    first.push_back(staging.memory_for(number, 1000));
    for (std::size_t other = 0; other + 1 < first.size(); ++other) {
      EXPECT_NE(first[other]->bytes().data(), first.back()->bytes().data());
    }
  }
  EXPECT_EQ(staging.memory_for(1 + kMostRunning, 900), first[0]);
  EXPECT_EQ(staging.memory_for(2 + 3 * kMostRunning, 1000), first[1]);
}

// An earlier operation may still be under way in the smaller memory.
TEST(Staging, KeepsMemoryThatAnOperationHolds) {
  FakeDevice fake;
  const DeviceBlock use = allocate_device(1);
  Staging staging;
  const std::shared_ptr<const Block> small = staging.memory_for(1, 100);
  const std::size_t with_small = fake.open_things();
  EXPECT_EQ(staging.memory_for(1 + kMostRunning, 5000)->bytes().size(), 5000U);
  EXPECT_EQ(small->bytes().size(), 100U);
  EXPECT_EQ(fake.open_things(), with_small + 1);
  EXPECT_EQ(staging.memory_for(2, 100)->bytes().size(), 5000U) << "the next growth is saved";
}

// Each distinct call has a plan of its own.
TEST(DeviceStaging, DoesNotGrowWithTheNumberOfDistinctCalls) {
  FakeDevice fake;
  auto world = world_that_stages(2);
  testing::on_every_rank(world, [&](Communicator& comm) {
    constexpr std::size_t kFew = 100'000;
    constexpr std::size_t kDistinct = 5 * kMostRunning;
    std::vector<float> here(kFew + kDistinct, 1.0F);
    const DeviceBlock block = allocate_device(here.size() * sizeof(float));
    std::size_t at_first = 0;
    for (std::size_t call = 0; call < kDistinct; ++call) {
      if (comm.rank() == 1) {
        comm.all_reduce(std::span(here).first(kFew + call), ReduceOp::kSum);
        continue;
      }
      comm.all_reduce(block.as<float>().first(kFew + call), ReduceOp::kSum);
      if (call + 1 == kMostRunning) at_first = fake.count(FakeCall::kAllocatePinned);
    }
    if (comm.rank() == 0) {
      EXPECT_EQ(fake.count(FakeCall::kAllocatePinned), at_first);
    }
  });
}

// Method: the messages of three peers arrive at the same time. Each has more segments than a plan
// has memory for. The calls before it have few values, so the memory grows.
TEST(DeviceStaging, IsNotSharedByOperationsUnderWay) {
  FakeDevice fake;
  auto world = world_that_stages(4);
  testing::on_every_rank(world, [&](Communicator& comm) {
    for (const std::size_t count : {10, 20'000, 700'001}) {
      const auto values_of = [count](std::size_t rank) {
        return contribution_of<float>(rank, count);
      };
      if (comm.rank() != 0) {
        comm.send(values_of(comm.rank()), 0);
        continue;
      }
      std::vector<DeviceBlock> blocks;
      std::vector<Request> requests;
      for (std::size_t peer = 1; peer < 4; ++peer) {
        blocks.push_back(allocate_device(count * sizeof(float)));
        requests.push_back(comm.receive_async(blocks.back().as<float>(), peer));
      }
      wait_all(requests);
      for (std::size_t peer = 1; peer < 4; ++peer) {
        EXPECT_EQ(fake.read(blocks[peer - 1].as<float>()), values_of(peer)) << "from " << peer;
      }
    }
  });
  EXPECT_EQ(fake.crime(), "");
}

}  // namespace
}  // namespace rota
