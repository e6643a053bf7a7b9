// The library's communicators run kinds of operations that the library does not know. Method: a toy
// method takes the place of the plan star. It runs on one thread, so the test decides when an
// operation goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "communicator/impl.h"
#include "communicator/one_thread.h"
#include "communicator/silent_transport.h"
#include "communicator/toy_method.h"
#include "testing/error_of.h"
#include "transport/fabric.h"

namespace rota {
namespace {

using std::chrono::seconds;
using testing::error_of;
using ::testing::HasSubstr;
using testing::ToyManner;

Communicator with_toys(Group group, ToyManner& toys) {
  group.methods.push_back(std::make_unique<testing::Toys>(toys));
  return CommunicatorImpl::communicator(
      std::make_shared<CommunicatorImpl>(std::move(group), Settings({.plan = "star"})));
}

class KindsTest : public ::testing::Test {
 protected:
  std::span<float> floats(std::size_t first, std::size_t count) {
    return std::span(values_).subspan(first, count);
  }
  Request begin(std::size_t first, std::size_t count) {
    return comm_.all_reduce_async(floats(first, count), ReduceOp::kSum);
  }
  std::array<Values, 2> two_parts() { return {floats(0, 100), floats(200, 300)}; }

  ToyManner toys_{.own_streams = true, .one_thread = "the library toy"};
  Communicator comm_ = with_toys(
      testing::group_over(std::make_unique<testing::SilentTransport>(), seconds(20)), toys_);
  std::vector<float> values_ = std::vector<float>(1000);
};

TEST_F(KindsTest, EndAsTheyAreDone) {
  Request slow = begin(0, 500);
  Request quick = begin(500, 2);
  quick.wait();
  EXPECT_FALSE(slow.test());
  slow.wait();
}

TEST_F(KindsTest, KeepTheOrderOfMemoryAndStreams) {
  Request slow = begin(0, 100);
  Request same_memory = begin(99, 1);
  same_memory.wait();
  EXPECT_TRUE(slow.test());
  toys_.own_streams = false;
  Request another = begin(0, 100);
  begin(500, 1).wait();
  EXPECT_TRUE(another.test());
}

// The call of one buffer has the plan of the group, whose parts have as many values.
TEST_F(KindsTest, KeepTheOrderOfMemoryAfterAGroupOfTheSameCount) {
  comm_.all_reduce(two_parts(), ReduceOp::kSum);
  Request slow = begin(0, 400);
  Request same_memory = begin(99, 1);
  same_memory.wait();
  EXPECT_TRUE(slow.test());
}

TEST_F(KindsTest, AreRefusedToAnotherThreadWhereTheyTakeOne) {
  const std::string what = "the library toy";
  testing::expect_refused_elsewhere(what, [&] { comm_.all_reduce(floats(0, 1), ReduceOp::kSum); });
  testing::expect_refused_elsewhere(what, [&] { begin(0, 1); });
  Request request = begin(0, 1);
  testing::expect_refused_elsewhere(what, [&] { request.wait(); });
  testing::expect_refused_elsewhere(what, [&] { (void)request.test(); });
  request.wait();
}

TEST_F(KindsTest, MoveOnlyWhileTheirThreadWaits) {
  Request request = begin(0, 3);
  const auto* started = std::exchange(toys_.started, nullptr);
  EXPECT_TRUE(started) << "an operation may start in the call that begins it";
  Request behind = begin(0, 3);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(toys_.started) << "another thread drives";
  behind.wait();
  EXPECT_TRUE(request.test());
}

TEST_F(KindsTest, AreMadeReadyBeforeACall) {
  const std::size_t before = toys_.made_ready;
  comm_.all_reduce(floats(0, 1), ReduceOp::kSum);
  comm_.all_reduce(floats(0, 1), ReduceOp::kSum);
  EXPECT_EQ(toys_.made_ready - before, 2U);
}

TEST_F(KindsTest, TakeTheRunOfAGroupThatIsCopied) {
  std::iota(values_.begin(), values_.end(), 0.0F);
  toys_.is_held = true;
  Request request = comm_.all_reduce_async(two_parts(), ReduceOp::kSum);
  ASSERT_TRUE(toys_.started);
  EXPECT_FALSE(toys_.started->parts);
  const auto* run = reinterpret_cast<const float*>(toys_.started->buffers[0]);
  EXPECT_EQ(run[99], 99.0F);
  EXPECT_EQ(run[100], 200.0F);
  toys_.is_held = false;
  request.wait();
}

TEST_F(KindsTest, TakeTheListOfAGroupWhereTheyReachIt) {
  toys_.reached = std::as_bytes(std::span(values_));
  toys_.host_reads = false;
  toys_.is_held = true;
  Request request = comm_.all_reduce_async(two_parts(), ReduceOp::kSum);
  ASSERT_TRUE(toys_.started && toys_.started->parts);
  EXPECT_EQ(toys_.started->parts->count, 2U);
  EXPECT_EQ(toys_.started->parts->parts[1].offset, 200 * sizeof(float));
  EXPECT_EQ(toys_.started->parts->parts[1].bytes, 300 * sizeof(float));
  toys_.is_held = false;
  request.wait();
}

TEST_F(KindsTest, RefuseAGroupThatTheHostCannotBringTogether) {
  toys_.host_reads = false;
  const auto error = error_of([&] { comm_.all_reduce(two_parts(), ReduceOp::kSum); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  EXPECT_STREQ(error->what(),
               "the host cannot read these buffers, so it cannot pack them into a group: make one "
               "call for each buffer");
  comm_.all_reduce(floats(0, 100), ReduceOp::kSum);
}

TEST_F(KindsTest, GetValuesInTheMemoryThatTheyTake) {
  const DeviceSpan<float> on_device(values_.data(), 100, 3);
  const auto error = error_of([&] { comm_.all_reduce(on_device, ReduceOp::kSum); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  EXPECT_STREQ(error->what(),
               "all_reduce: the plan star cannot use values in the memory of device 3 here: copy "
               "them to host memory first");
  toys_.memory = MemoryKind::of_device(3);
  comm_.all_reduce(on_device, ReduceOp::kSum);
  ASSERT_TRUE(toys_.started);
  EXPECT_EQ(toys_.started->planned->call.memory, MemoryKind::of_device(3));
  EXPECT_EQ(toys_.started->buffers[0], reinterpret_cast<std::byte*>(values_.data()));
}

// The other ranks would wait for a call that has failed here, so no later call may take its place.
TEST_F(KindsTest, BreakTheirCommunicatorIfTheDeviceFailsBeforeTheyAreQueued) {
  const DeviceSpan<float> on_device(values_.data(), 100, 3);
  for (const ErrorCode code : {ErrorCode::kSystem, ErrorCode::kTimeout, ErrorCode::kNoMemory}) {
    ToyManner toys{.memory = MemoryKind::of_device(3), .staging_error = code};
    Communicator comm = with_toys(
        testing::group_over(std::make_unique<testing::SilentTransport>(), seconds(20)), toys);
    const auto first = error_of([&] { comm.all_reduce(on_device, ReduceOp::kSum); });
    toys.staging_error.reset();
    const auto later = error_of([&] { comm.all_reduce(on_device, ReduceOp::kSum); });
    ASSERT_TRUE(first && later) << to_string(code);
    EXPECT_EQ(first->code(), code);
    EXPECT_THAT(first->what(), HasSubstr("the device of the toy"));
    EXPECT_STREQ(later->what(), first->what());
  }
}

// Expects, on one of two ranks that share memory, that the toy's operation starts before the other
// operations and ends after them.
void expect_all_kinds_side_by_side(Communicator& comm, ToyManner& toys) {
  std::vector<float> slow(3);
  std::vector<float> shared(3, static_cast<float>(comm.rank()));
  std::vector<float> message(3, static_cast<float>(comm.rank()));
  toys.is_held = true;
  Request request = comm.all_reduce_async(slow, ReduceOp::kSum);
  comm.broadcast(shared, 1);
  EXPECT_EQ(shared[0], 1.0F);
  if (comm.rank() == 0) {
    comm.send(message, 1);
  } else {
    comm.receive(message, 0);
    EXPECT_EQ(message[0], 0.0F);
  }
  EXPECT_TRUE(toys.started);
  EXPECT_FALSE(request.test());
  toys.is_held = false;
  request.wait();
  comm.barrier();
}

TEST(Kinds, GoBesidePlansAndSharedMemory) {
  auto transports = transport::join_threads(2, std::size_t{8} << 20);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    threads.emplace_back([rank, transport = std::move(transports[rank])]() mutable {
      Group group = testing::group_over(std::move(transport), seconds(20));
      group.rank = rank;
      ToyManner toys{.one_thread = "the library toy"};
      Communicator comm = with_toys(std::move(group), toys);
      expect_all_kinds_side_by_side(comm, toys);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace rota
