// A collective begins when the program's streams have come to it, and the program's streams wait
// for its result. The host does neither. Whatever fails, no stream waits for ever.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <rota/communicator.h>
#include <rota/device_memory.h>

#include "device/calls.h"
#include "device/own_stream.h"
#include "testing/error_of.h"
#include "testing/fake_device.h"
#include "testing/tcp_world.h"

namespace rota {
namespace {

using testing::error_of;
using testing::FakeDevice;
using testing::FakeDeviceOptions;
using testing::floats_of;
using testing::OwnStream;
using testing::pinned;

constexpr std::size_t kCount = 30'007;

std::vector<float> all_of(float value) {
  return std::vector<float>(kCount, value);  // NOLINT: braces would list two values.
}

// Two ranks that use this thread, one after the other.
class CallerStreams : public ::testing::Test {
 protected:
  explicit CallerStreams(const FakeDeviceOptions& options = {}) : fake_(options) {}

  static std::vector<Communicator> world_of_two(std::chrono::milliseconds deadline) {
    CommunicatorOptions options;
    options.plan = "ring";
    options.deadline = deadline;
    return testing::tcp_world_of(2, options);
  }

  // Whatever is not held up happens in this time.
  static void let_time_pass() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

  void TearDown() override { EXPECT_EQ(fake_.crime(), ""); }

  FakeDevice fake_;
  DeviceBlock block_ = allocate_device(kCount * sizeof(float));
  DeviceSpan<float> there_ = block_.as<float>();
  std::vector<float> here_ = all_of(2);
  std::vector<Communicator> world_ = world_of_two(std::chrono::seconds(20));
};

TEST_F(CallerStreams, HoldBackTheirOperations) {
  const Block ones = pinned(kCount, 1);
  OwnStream stream;
  stream.shut();
  stream.write(there_, ones);
  Request request = world_[0].all_reduce_async(there_.on(stream.get()), ReduceOp::kSum);
  Request other = world_[1].all_reduce_async(here_, ReduceOp::kSum);
  let_time_pass();
  EXPECT_FALSE(request.test());
  stream.open();
  request.wait();
  other.wait();
  EXPECT_EQ(fake_.read(there_), all_of(3));
  EXPECT_EQ(here_, all_of(3));
}

// The output's stream may still write to the output, such as the result of an earlier step.
TEST_F(CallerStreams, OfEveryBufferCount) {
  const DeviceBlock block = allocate_device(kCount * sizeof(float));
  const DeviceSpan<float> output = block.as<float>();
  const Block ones = pinned(kCount, 1);
  const Block nines = pinned(kCount, 9);
  OwnStream writes_input;
  OwnStream writes_output;
  for (OwnStream* first : {&writes_input, &writes_output}) {
    writes_input.shut();
    writes_input.write(there_, ones);
    writes_output.shut();
    writes_output.write(output, nines);
    Request request = world_[0].all_reduce_async(there_.on(writes_input.get()),
                                                 output.on(writes_output.get()), ReduceOp::kSum);
    here_ = all_of(2);
    Request other = world_[1].all_reduce_async(here_, ReduceOp::kSum);
    first->open();
    let_time_pass();
    EXPECT_FALSE(request.test());
    (first == &writes_input ? writes_output : writes_input).open();
    request.wait();
    other.wait();
    EXPECT_EQ(fake_.read(output), all_of(3));
    fake_.write(there_, all_of(0));
  }
}

TEST_F(CallerStreams, HoldBackOnlyWhatWasPutOnThemBefore) {
  fake_.write(there_, all_of(1));
  OwnStream stream;
  Request request = world_[0].all_reduce_async(there_.on(stream.get()), ReduceOp::kSum);
  stream.shut();
  world_[1].all_reduce(here_, ReduceOp::kSum);
  request.wait();
  EXPECT_EQ(fake_.read(there_), all_of(3));
}

TEST_F(CallerStreams, WaitForAResult) {
  fake_.write(there_, all_of(1));
  const Block result = pinned(kCount, 0);
  OwnStream stream;
  Request request = world_[0].all_reduce_async(there_, ReduceOp::kSum);
  request.wait_on(stream.get());
  stream.read(result, there_);
  let_time_pass();
  EXPECT_FALSE(stream.is_idle());
  Request other = world_[1].all_reduce_async(here_, ReduceOp::kSum);
  EXPECT_TRUE(stream.becomes_idle());
  EXPECT_EQ(floats_of(result), all_of(3));
  request.wait();
  other.wait();
}

// Also for values in host memory, and before any operation has used a device.
TEST_F(CallerStreams, WaitForAResultInHostMemory) {
  OwnStream stream;
  Request request = world_[0].all_reduce_async(here_, ReduceOp::kSum);
  request.wait_on(stream.get());
  let_time_pass();
  EXPECT_FALSE(stream.is_idle());
  std::vector<float> also_here = all_of(1);
  world_[1].all_reduce(also_here, ReduceOp::kSum);
  EXPECT_TRUE(stream.becomes_idle());
  request.wait();
  request.wait_on(stream.get());  // It is done.
  EXPECT_TRUE(stream.becomes_idle());
}

class StreamsThatCannotWait : public CallerStreams {
 protected:
  StreamsThatCannotWait() : CallerStreams({.waits_for_words = false}) {}
};

// The stream gets the copy after the result is there.
TEST_F(StreamsThatCannotWait, LetTheHostWait) {
  fake_.write(there_, all_of(1));
  const Block result = pinned(kCount, 0);
  OwnStream stream;
  Request request = world_[0].all_reduce_async(there_, ReduceOp::kSum);
  Request other = world_[1].all_reduce_async(here_, ReduceOp::kSum);
  request.wait_on(stream.get());
  EXPECT_TRUE(request.test());
  stream.read(result, there_);
  EXPECT_TRUE(stream.becomes_idle());
  EXPECT_EQ(floats_of(result), all_of(3));
  other.wait();
}

// With one queue for all streams, rota's copies could come behind the wait for them.
TEST_F(CallerStreams, WaitInNoQueueThatOthersShare) {
  const OwnStream stream;
  for (const char* connections : {"1", "7"}) {
    ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", connections, 1);
    Request request = world_[0].all_reduce_async(there_, ReduceOp::kSum);
    Request other = world_[1].all_reduce_async(here_, ReduceOp::kSum);
    request.wait_on(stream.get());
    EXPECT_TRUE(request.test()) << connections;
    other.wait();
  }
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "8", 1);
  Request request = world_[0].all_reduce_async(there_, ReduceOp::kSum);
  request.wait_on(stream.get());
  EXPECT_FALSE(request.test());
  ::unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
  world_[1].all_reduce(here_, ReduceOp::kSum);
  request.wait();
}

TEST_F(StreamsThatCannotWait, GetTheErrorOfTheCall) {
  auto world = world_of_two(std::chrono::milliseconds(300));
  OwnStream stream;
  Request request = world[0].all_reduce_async(there_, ReduceOp::kSum);
  const auto error = error_of([&] { request.wait_on(stream.get()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kTimeout) << error->what();
}

// More operations than the queue has slots. Each step computes on a stream, and the host waits for
// nothing until the end.
TEST_F(CallerStreams, CarryManySteps) {
  constexpr std::size_t kSteps = 150;
  const Block half = pinned(kCount, 0.5F);
  OwnStream stream;
  std::vector<Request> requests;
  std::vector<float> halves;
  for (std::size_t step = 0; step < kSteps; ++step) {
    stream.write(there_, half);
    requests.push_back(world_[0].all_reduce_async(there_.on(stream.get()), ReduceOp::kSum));
    requests.back().wait_on(stream.get());
    halves.assign(kCount, 0.5F);
    world_[1].all_reduce(halves, ReduceOp::kSum);
    ASSERT_EQ(halves, all_of(1)) << "step " << step;
  }
  wait_all(requests);
  EXPECT_TRUE(stream.becomes_idle());
  EXPECT_EQ(fake_.read(there_), all_of(1));
}

// Nobody calls wait(), so a thread of rota's moves the operation.
TEST_F(CallerStreams, WaitInAWorldOfOne) {
  Communicator alone;
  fake_.write(there_, all_of(4));
  const Block result = pinned(kCount, 0);
  OwnStream writes;
  OwnStream reads;
  writes.shut();
  Request request =
      alone.all_reduce_async(there_.on(writes.get()), Reduction::pre_scaled_sum(0.25));
  request.wait_on(reads.get());
  reads.read(result, there_);
  let_time_pass();
  EXPECT_FALSE(reads.is_idle());
  writes.open();
  EXPECT_TRUE(reads.becomes_idle());
  EXPECT_EQ(floats_of(result), all_of(1));
}

// This call has nothing to do. Its result is there once the stream has written it.
TEST_F(CallerStreams, HoldBackACallWithoutSteps) {
  Communicator alone;
  const Block ones = pinned(kCount, 1);
  OwnStream stream;
  stream.shut();
  stream.write(there_, ones);
  Request request = alone.all_reduce_async(there_.on(stream.get()), ReduceOp::kSum);
  let_time_pass();
  EXPECT_FALSE(request.test());
  stream.open();
  request.wait();
  EXPECT_EQ(fake_.read(there_), all_of(1));
}

TEST_F(CallerStreams, GoOnWhenTheGroupBreaks) {
  auto world = world_of_two(std::chrono::milliseconds(300));
  OwnStream stream;
  Request request = world[0].all_reduce_async(there_, ReduceOp::kSum);
  Request later = world[0].all_reduce_async(there_, ReduceOp::kSum);
  later.wait_on(stream.get());
  request.wait_on(stream.get());
  EXPECT_TRUE(stream.becomes_idle());
  for (Request* each : {&request, &later}) {
    const auto error = error_of([&] { each->wait(); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kTimeout);
  }
  later.wait_on(stream.get());  // The error has been told: the stream does not wait.
  EXPECT_TRUE(stream.becomes_idle());
}

TEST_F(CallerStreams, GoOnWhenTheCommunicatorIsClosed) {
  OwnStream stream;
  Request request;
  {
    std::optional<Communicator> closed(std::move(world_[0]));
    request = closed->all_reduce_async(there_, ReduceOp::kSum);
    request.wait_on(stream.get());
  }
  EXPECT_TRUE(stream.becomes_idle());
  EXPECT_TRUE(error_of([&] { request.wait(); }));
}

// The word that a stream waits for outlives the communicator, until the stream has come to it.
TEST_F(CallerStreams, MayComeToTheirWaitLate) {
  OwnStream stream;
  stream.shut();
  {
    auto world = world_of_two(std::chrono::seconds(20));
    Request request = world[0].all_reduce_async(there_, ReduceOp::kSum);
    request.wait_on(stream.get());
    world[1].all_reduce(here_, ReduceOp::kSum);
    request.wait();
  }
  stream.open();
  EXPECT_TRUE(stream.becomes_idle());
}

TEST_F(CallerStreams, ThatAreNoStreamsAreRefused) {
  const void* destroyed = OwnStream().get();
  const OwnStream elsewhere(1);
  const auto refusal = [&](auto call) {
    const auto error = error_of(call);
    if (!error) return std::string();
    EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
    return std::string(error->what());
  };
  EXPECT_EQ(refusal([&] { world_[0].all_reduce(there_.on(destroyed), ReduceOp::kSum); }),
            "all_reduce: the output's stream is not a stream of device 0, or was destroyed too "
            "early: invalid resource handle (CUDA error 400)");
  EXPECT_EQ(
      refusal([&] { world_[0].all_gather(there_.first(1).on(elsewhere.get()), there_.first(2)); }),
      "all_gather: the input's stream is not a stream of device 0, or was destroyed too "
      "early: invalid resource handle (CUDA error 400)");
  // Nothing was queued, so the next call is the first one.
  Request request = world_[0].all_reduce_async(there_, ReduceOp::kSum);
  EXPECT_EQ(refusal([&] { request.wait_on(destroyed); }),
            "wait_on: the stream is not a stream of device 0, or was destroyed too early: invalid "
            "resource handle (CUDA error 400)");
  EXPECT_EQ(refusal([&] { request.wait_on(elsewhere.get(), 1); }), "");
  world_[1].all_reduce(here_, ReduceOp::kSum);
  request.wait();
}

// CUDA gives these errors for every call from then on, so they say nothing about the stream.
TEST_F(CallerStreams, AreNotBlamedForFaults) {
  for (const int fault : {226, 700, 719, 721, 810, 911}) {
    const auto error = error_of([&] { device::check_stream(fault, 0, "the stream"); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kSystem) << error->what();
  }
}

// What rota adds to such a stream would belong to the graph, and never happen.
TEST_F(CallerStreams, ThatTheProgramCapturesAreRefused) {
  OwnStream stream;
  const auto refusal = [](auto call) {
    const auto error = error_of(call);
    if (!error) return std::string();
    EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
    return std::string(error->what());
  };
  const std::string why =
      "'s stream cannot be used while the program captures a CUDA graph, since no call of rota can "
      "be part of a graph: call rota before the capture or after it: operation not permitted when "
      "stream is capturing (CUDA error 900)";
  fake_.write(there_, all_of(1));
  fake_.capture(stream.get());
  EXPECT_EQ(refusal([&] { world_[0].all_reduce(there_.on(stream.get()), ReduceOp::kSum); }),
            "all_reduce: the output" + why);
  Request request = world_[0].all_reduce_async(there_, ReduceOp::kSum);
  EXPECT_NE(refusal([&] { request.wait_on(stream.get()); }), "");
  fake_.let_go(stream.get());
  request.wait_on(stream.get());
  world_[1].all_reduce(here_, ReduceOp::kSum);
  request.wait();
  EXPECT_EQ(fake_.read(there_), all_of(3));
}

TEST_F(CallerStreams, LeaveNothingBehind) {
  const std::size_t before = fake_.open_things();
  {
    auto world = world_of_two(std::chrono::seconds(20));
    OwnStream stream;
    Request request = world[0].all_reduce_async(there_.on(stream.get()), ReduceOp::kSum);
    request.wait_on(stream.get());
    world[1].all_reduce(here_, ReduceOp::kSum);
    request.wait();
  }
  EXPECT_EQ(fake_.open_things(), before);
}

TEST(DeviceSpanOn, KeepsTheStreamInEveryPart) {
  std::byte byte{};
  std::array<float, 10> values{};  // Nothing reads there: a device would.
  const DeviceSpan<float> span(values.data(), values.size(), 1);
  EXPECT_EQ(span.stream(), 0U);
  const DeviceSpan<float> streamed = span.on(&byte);
  const auto number = reinterpret_cast<std::uintptr_t>(&byte);
  EXPECT_EQ(streamed.first(3).stream(), number);
  EXPECT_EQ(streamed.subspan(3).stream(), number);
  EXPECT_EQ(DeviceSpan<const float>(streamed).stream(), number);
  EXPECT_EQ(bytes_of(streamed).stream(), number);
  EXPECT_EQ(bytes_of(DeviceSpan<const float>(streamed)).stream(), number);
  EXPECT_EQ(bytes_of(streamed).size(), 10 * sizeof(float));
  EXPECT_EQ(Values(streamed).stream(), number);
  EXPECT_EQ(ConstValues(streamed).stream(), number);
  EXPECT_EQ(ConstValues(Values(streamed)).stream(), number);
  EXPECT_EQ(Values(span.on(nullptr)).stream(), 1U);  // CUDA's default stream.
}

}  // namespace
}  // namespace rota
