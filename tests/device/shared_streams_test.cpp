// Over shared memory, too, a collective begins when the program's streams have come to it: this
// rank copies its values not earlier, and the devices of other ranks use them not earlier. Method:
// two ranks use this thread, one after the other. Their devices are fake.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <rota/communicator.h>
#include <rota/device_memory.h>

#include "communicator/thread_world.h"
#include "device/own_stream.h"
#include "testing/error_of.h"
#include "testing/fake_device.h"

namespace rota {
namespace {

using testing::FakeCall;
using testing::FakeDevice;
using testing::OwnStream;
using testing::pinned;

constexpr std::size_t kMany = 20'000;

// `true`: the values of the other rank are on a device, too.
class SharedStreams : public ::testing::TestWithParam<bool> {
 protected:
  Values other_values() { return GetParam() ? Values(other_there_) : Values(other_here_); }
  std::vector<float> other_now() { return GetParam() ? fake_.read(other_there_) : other_here_; }

  FakeDevice fake_;
  DeviceBlock block_ = allocate_device(kMany * sizeof(float), 0);
  DeviceBlock other_block_ = allocate_device(kMany * sizeof(float), 1);
  DeviceSpan<float> there_ = block_.as<float>();
  DeviceSpan<float> other_there_ = other_block_.as<float>();
  std::vector<float> other_here_ = std::vector<float>(kMany, 2.0F);
  std::vector<Communicator> world_ =
      ThreadWorld::make({.world_size = 2, .communicator = {.deadline = std::chrono::seconds(20)}});
};

TEST_P(SharedStreams, HoldBackTheirOperations) {
  fake_.write(other_there_, other_here_);
  const Block ones = pinned(kMany, 1);
  OwnStream stream;
  for (int round = 0; round < 2; ++round) {
    const auto expected = static_cast<float>(3 + round);
    stream.shut();
    stream.write(there_, ones);
    Request request = world_[0].all_reduce_async(there_.on(stream.get()), ReduceOp::kSum);
    Request other = world_[1].all_reduce_async(other_values(), ReduceOp::kSum);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_FALSE(request.test());
    EXPECT_FALSE(other.test());
    stream.open();
    request.wait();
    other.wait();
    EXPECT_EQ(fake_.read(there_), std::vector<float>(kMany, expected));
    EXPECT_EQ(other_now(), std::vector<float>(kMany, expected));
  }
  EXPECT_EQ(fake_.crime(), "");
}

// A rank that only gets values writes them when its stream no longer uses the memory.
TEST_P(SharedStreams, HoldBackAResult) {
  fake_.write(other_there_, other_here_);
  const Block ones = pinned(kMany, 1);
  OwnStream stream;
  stream.shut();
  stream.write(there_, ones);
  Request request = world_[0].broadcast_async(there_.on(stream.get()), 1);
  Request other = world_[1].broadcast_async(other_values(), 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_FALSE(request.test());
  stream.open();
  request.wait();
  other.wait();
  EXPECT_EQ(fake_.read(there_), std::vector<float>(kMany, 2.0F));
  EXPECT_EQ(fake_.crime(), "");
}

// A stream of rota that waits for the program's is not destroyed.
TEST_P(SharedStreams, EndWithTheirGroup) {
  OwnStream stream;
  stream.shut();
  Request request = world_[0].broadcast_async(there_.on(stream.get()), 1);
  world_[1].abort("it gives up");
  EXPECT_TRUE(testing::error_of([&] { request.wait(); }));
  world_.clear();
  stream.open();
  EXPECT_TRUE(stream.becomes_idle());
  EXPECT_EQ(fake_.crime(), "");
}

// CUDA may wait for all streams before it pins memory. So the thread that moves data pins nothing:
// a stream may wait for what that thread does next. The first call shows only while it is under way
// that the values go through host memory. Later calls have pinned memory from the start.
TEST(StreamsThatPinningWaitsFor, HoldNothingUp) {
  FakeDevice fake({.pins_between_work = true});
  const DeviceBlock block = allocate_device(kMany * sizeof(float), 0);
  const DeviceSpan<float> there = block.as<float>();
  auto world =
      ThreadWorld::make({.world_size = 2, .communicator = {.deadline = std::chrono::seconds(20)}});
  OwnStream stream;
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(fake.count(FakeCall::kPin), round == 0 ? 0U : static_cast<std::size_t>(round - 1));
    const std::size_t count = round < 2 ? kMany / 2 : kMany;
    std::vector<float> here(count, 2.0F);
    fake.write(there, std::vector<float>(kMany, 1.0F));
    Request request = world[0].all_reduce_async(there.first(count), ReduceOp::kSum);
    request.wait_on(stream.get());
    Request other = world[1].all_reduce_async(here, ReduceOp::kSum);
    EXPECT_TRUE(stream.becomes_idle());
    request.wait();
    other.wait();
    EXPECT_EQ(fake.read(there.first(count)), std::vector<float>(count, 3.0F));
    EXPECT_EQ(here, std::vector<float>(count, 3.0F));
  }
  EXPECT_EQ(fake.count(FakeCall::kPin), 2U);
  EXPECT_EQ(fake.crime(), "");
}

std::string memory_of_other(const ::testing::TestParamInfo<bool>& given) {
  return given.param ? "OnADevice" : "InHostMemory";
}

INSTANTIATE_TEST_SUITE_P(OtherRank, SharedStreams, ::testing::Bool(), memory_of_other);

}  // namespace
}  // namespace rota
