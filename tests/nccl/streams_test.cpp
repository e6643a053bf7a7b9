// NCCL's collectives begin when the program's streams have come to them, and the program's streams
// wait for their results. The host does neither. Method: the fake NCCL; two ranks use this thread,
// one after the other.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "device/own_stream.h"
#include "nccl/nccl_world.h"
#include "testing/error_of.h"

namespace rota {
namespace {

using testing::error_of;
using testing::FakeNccl;
using testing::floats_of;
using testing::OwnStream;
using testing::pinned;

constexpr std::size_t kStreamed = 5007;

std::vector<float> streamed(float value) { return std::vector<float>(kStreamed, value); }

// Rank 0's values are written and read by streams of the program. Those of rank 1 are 2.
class NcclStreams : public testing::NcclTest {
 protected:
  // Whatever is not held up happens in this time.
  static void let_time_pass() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

  // Expects that neither rank's call ends.
  static void expect_held(Request& request, Request& other) {
    let_time_pass();
    EXPECT_FALSE(request.test());
    EXPECT_FALSE(other.test());
  }

  void TearDown() override {
    world_.clear();
    EXPECT_EQ(device_.crime(), "");
    EXPECT_EQ(nccl_.counts().crimes, 0);
  }

  FakeNccl nccl_;
  DeviceBlock block_ = block_of(streamed(0), 0);
  DeviceBlock other_block_ = block_of(streamed(2), 1);
  DeviceSpan<float> there_ = block_.as<float>();
  DeviceSpan<float> other_there_ = other_block_.as<float>();
  std::vector<Communicator> world_ = world(2);
};

TEST_F(NcclStreams, HoldBackTheirOperations) {
  const Block ones = pinned(kStreamed, 1);
  OwnStream stream;
  for (int round = 0; round < 2; ++round) {
    device_.write(other_there_, streamed(2));
    stream.shut();
    stream.write(there_, ones);
    Request request = world_[0].all_reduce_async(there_.on(stream.get()), ReduceOp::kSum);
    Request other = world_[1].all_reduce_async(other_there_, ReduceOp::kSum);
    expect_held(request, other);
    stream.open();
    request.wait();
    other.wait();
    EXPECT_EQ(device_.read(there_), streamed(3));
    EXPECT_EQ(device_.read(other_there_), streamed(3));
  }
  EXPECT_EQ(nccl_.counts().operations, 4);
}

// The scaling of an input is the first work of a call, and the output may still be written to.
TEST_F(NcclStreams, OfEveryBufferCount) {
  const DeviceBlock output_block = block_of(streamed(0), 0);
  const DeviceSpan<float> output = output_block.as<float>();
  const Block fours = pinned(kStreamed, 4);
  const Block nines = pinned(kStreamed, 9);
  OwnStream writes_input;
  OwnStream writes_output;
  for (OwnStream* first : {&writes_input, &writes_output}) {
    device_.write(there_, streamed(0));
    device_.write(other_there_, streamed(2));
    writes_input.shut();
    writes_input.write(there_, fours);
    writes_output.shut();
    writes_output.write(output, nines);
    const auto half = Reduction::pre_scaled_sum(0.5);
    Request request = world_[0].all_reduce_async(there_.on(writes_input.get()),
                                                 output.on(writes_output.get()), half);
    Request other = world_[1].all_reduce_async(other_there_, half);
    first->open();
    expect_held(request, other);
    (first == &writes_input ? writes_output : writes_input).open();
    request.wait();
    other.wait();
    EXPECT_EQ(device_.read(output), streamed(3));
    EXPECT_EQ(device_.read(there_), streamed(4));
  }
}

TEST_F(NcclStreams, HoldBackAGroupOfBuffers) {
  const Block ones = pinned(kStreamed, 1);
  OwnStream stream;
  stream.shut();
  stream.write(there_, ones);
  const std::vector<Values> group{there_.first(2000), there_.subspan(2000).on(stream.get())};
  const std::vector<Values> others{other_there_.first(2000), other_there_.subspan(2000)};
  Request request = world_[0].all_reduce_async(group, ReduceOp::kSum);
  Request other = world_[1].all_reduce_async(others, ReduceOp::kSum);
  expect_held(request, other);
  stream.open();
  request.wait();
  other.wait();
  EXPECT_EQ(device_.read(there_), streamed(3));
}

// A mean is there once rota's kernel has multiplied NCCL's sum.
TEST_F(NcclStreams, WaitForAResult) {
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMean}) {
    device_.write(there_, streamed(4));
    device_.write(other_there_, streamed(2));
    const Block result = pinned(kStreamed, 0);
    OwnStream stream;
    Request request = world_[0].all_reduce_async(there_, op);
    request.wait_on(stream.get());
    stream.read(result, there_);
    let_time_pass();
    EXPECT_FALSE(stream.is_idle());
    Request other = world_[1].all_reduce_async(other_there_, op);
    EXPECT_TRUE(stream.becomes_idle());
    EXPECT_EQ(floats_of(result), streamed(op == ReduceOp::kSum ? 6.0F : 3.0F));
    request.wait();
    other.wait();
  }
}

// A rank that joins alone has no transport, and no call of it has needed a thread that drives.
TEST_F(NcclStreams, WaitForAGroupOfARankThatIsAlone) {
  CommunicatorOptions options;
  options.plan = "nccl";
  Communicator alone(options);
  OwnStream writes;
  OwnStream stream;
  writes.shut();
  const std::vector<Values> group{there_.first(2000), there_.subspan(2000).on(writes.get())};
  Request request = alone.all_reduce_async(group, ReduceOp::kSum);
  request.wait_on(stream.get());
  writes.open();
  EXPECT_TRUE(stream.becomes_idle());
  request.wait();
}

// Each step writes on a stream, and the host waits for nothing until the end.
TEST_F(NcclStreams, CarryManySteps) {
  constexpr std::size_t kSteps = 100;
  const Block half = pinned(kStreamed, 0.5F);
  OwnStream stream;
  OwnStream other_stream(1);
  std::vector<Request> requests;
  for (std::size_t step = 0; step < kSteps; ++step) {
    stream.write(there_, half);
    requests.push_back(world_[0].all_reduce_async(there_.on(stream.get()), ReduceOp::kSum));
    requests.back().wait_on(stream.get());
    other_stream.write(other_there_, half);
    requests.push_back(
        world_[1].all_reduce_async(other_there_.on(other_stream.get()), ReduceOp::kSum));
    requests.back().wait_on(other_stream.get(), 1);
  }
  wait_all(requests);
  EXPECT_TRUE(stream.becomes_idle());
  EXPECT_TRUE(other_stream.becomes_idle());
  EXPECT_EQ(device_.read(there_), streamed(1));
  EXPECT_EQ(device_.read(other_there_), streamed(1));
}

TEST_F(NcclStreams, GoOnWhenNcclIsAborted) {
  nccl_.manner().stuck_at = 1;
  auto stuck = world(2, "tcp", std::chrono::milliseconds(300));
  OwnStream stream;
  Request request = stuck[0].all_reduce_async(there_, ReduceOp::kSum);
  Request other = stuck[1].all_reduce_async(other_there_, ReduceOp::kSum);
  request.wait_on(stream.get());
  EXPECT_TRUE(stream.becomes_idle());
  EXPECT_TRUE(error_of([&] { request.wait(); }));
  EXPECT_TRUE(error_of([&] { other.wait(); }));
}

// NCCL's operation is on its stream behind the program's. An abort does not open that.
TEST_F(NcclStreams, MayStandStillWhenNcclIsAborted) {
  auto brief = world(2, "tcp", std::chrono::milliseconds(300));
  OwnStream stream;
  stream.shut();
  Request request = brief[0].all_reduce_async(there_.on(stream.get()), ReduceOp::kSum);
  Request other = brief[1].all_reduce_async(other_there_, ReduceOp::kSum);
  const auto error = error_of([&] { request.wait(); });
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(error->what()).find("NCCL may still use the buffers"), std::string::npos)
      << error->what();
  EXPECT_TRUE(error_of([&] { other.wait(); }));
  stream.open();
  EXPECT_TRUE(stream.becomes_idle());
}

}  // namespace
}  // namespace rota
