// When a device or its memory fails, every rank gets an error that says where and in which call,
// and no rank waits for ever.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <rota/communicator.h>
#include <rota/device_memory.h>

#include "device/own_stream.h"
#include "testing/error_of.h"
#include "testing/fake_device.h"
#include "testing/on_every_rank.h"
#include "testing/said_by_child.h"
#include "testing/tcp_world.h"

namespace rota {
namespace {

using testing::error_of;
using testing::FakeCall;
using testing::FakeDevice;
using testing::OwnStream;

constexpr std::size_t kFailingCount = 100'000;
constexpr std::size_t kFailingRanks = 3;
constexpr std::size_t kDeviceRank = 1;  // Its values are on the device.

std::vector<Communicator> world_of_three(const std::string& plan = "ring") {
  CommunicatorOptions options;
  options.plan = plan;
  options.deadline = std::chrono::seconds(10);
  return testing::tcp_world_of(kFailingRanks, options);
}

class DeviceFailures : public ::testing::Test {
 protected:
  using Errors = std::array<std::optional<Error>, kFailingRanks>;

  // All ranks make calls until one fails. The device's rank calls `harm` after its second call.
  template <class Harm>
  Errors errors_after(Harm harm, std::size_t more = 0) {
    auto world = world_of_three();
    Errors errors;
    testing::on_every_rank(world, [&](Communicator& comm) {
      std::vector<float> here(kFailingCount + more, 1.0F);
      const DeviceSpan<float> there = block_.as<float>();
      errors[comm.rank()] = error_of([&] {
        for (int call = 0; call < 100; ++call) {
          const std::size_t count = call < 2 ? kFailingCount : kFailingCount + more;
          if (comm.rank() != kDeviceRank) {
            comm.all_reduce(std::span(here).first(count), ReduceOp::kSum);
            continue;
          }
          if (call == 2) harm();
          comm.all_reduce(there.first(count), ReduceOp::kSum);
        }
      });
    });
    return errors;
  }

  // Expects that each rank has an error, and that the other ranks have not waited until their
  // deadline. Over TCP alone, a rank may blame a neighbour that was told before.
  static void expect_end_of_all(const Errors& errors) {
    for (std::size_t rank = 0; rank < kFailingRanks; ++rank) {
      ASSERT_TRUE(errors[rank]) << "rank " << rank;
      if (rank == kDeviceRank) continue;
      EXPECT_EQ(errors[rank]->code(), ErrorCode::kPeerLost) << errors[rank]->what();
    }
  }

  FakeDevice fake_{{.room = 8 * kFailingCount * sizeof(float)}};
  DeviceBlock block_ = allocate_device(2 * kFailingCount * sizeof(float));
};

bool says(const Error& error, const std::string& text) {
  return std::string(error.what()).find(text) != std::string::npos;
}

// A fault stays: every later call of the process says which call has seen it first.
TEST_F(DeviceFailures, OfAKernelAreToldByTheCallThatSawThem) {
  const Errors errors = errors_after([&] { fake_.fault(); });
  ASSERT_NO_FATAL_FAILURE(expect_end_of_all(errors));
  const std::string call = "all_reduce #3 of 100000 float32 (sum, ring)";
  EXPECT_EQ(errors[kDeviceRank]->code(), ErrorCode::kSystem);
  EXPECT_TRUE(says(*errors[kDeviceRank], "rank 1 (")) << errors[kDeviceRank]->what();
  EXPECT_TRUE(says(*errors[kDeviceRank], ": device 0: " + call +
                                             " failed: an illegal memory access was encountered "
                                             "(CUDA error 700)"))
      << errors[kDeviceRank]->what();
  const auto later = error_of([] { allocate_device(64); });
  ASSERT_TRUE(later);
  EXPECT_EQ(later->code(), ErrorCode::kSystem);
  EXPECT_TRUE(says(*later, "; the fault was first seen in " + call)) << later->what();
}

TEST_F(DeviceFailures, EndCallsThatComeLater) {
  errors_after([&] { fake_.fault(); });
  Communicator alone;
  const auto error = error_of([&] { alone.all_reduce(block_.as<float>(), ReduceOp::kSum); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kSystem) << error->what();
  std::vector<float> here(100, 1.0F);
  Communicator other;
  other.all_reduce(here, ReduceOp::kSum);  // Host memory needs no device.
  EXPECT_EQ(here[0], 1.0F);
}

// A program that waits on a stream for a device that has faulted gets the error from wait().
TEST_F(DeviceFailures, LeaveNoStreamWaiting) {
  auto world = world_of_three();
  OwnStream stream;
  fake_.hold();
  Request request =
      world[kDeviceRank].all_reduce_async(block_.as<float>().first(kFailingCount), ReduceOp::kSum);
  request.wait_on(stream.get());
  fake_.fail(FakeCall::kTest);
  EXPECT_TRUE(error_of([&] { request.wait(); }));
  fake_.release();
  EXPECT_TRUE(stream.becomes_idle());
}

TEST_F(DeviceFailures, OfMemoryInTheMiddleEndAllRanks) {
  const Errors errors = errors_after([&] { fake_.fail(FakeCall::kAllocatePinned); }, 1);
  ASSERT_NO_FATAL_FAILURE(expect_end_of_all(errors));
  EXPECT_EQ(errors[kDeviceRank]->code(), ErrorCode::kNoMemory);
  EXPECT_TRUE(says(*errors[kDeviceRank], "rank 1: the host has no room for "))
      << errors[kDeviceRank]->what();
  EXPECT_EQ(fake_.crime(), "");
}

// This plan keeps the values of other ranks on the device until it adds them.
TEST_F(DeviceFailures, OfTheDevicesMemoryEndAllRanks) {
  auto world = world_of_three("direct");
  Errors errors;
  testing::on_every_rank(world, [&](Communicator& comm) {
    errors[comm.rank()] = error_of([&] {
      if (comm.rank() == kDeviceRank) {
        std::vector<DeviceBlock> all;
        while (!error_of([&] { all.push_back(allocate_device(kFailingCount * sizeof(float))); }))
          continue;
        comm.all_reduce(block_.as<float>().first(kFailingCount), ReduceOp::kSum);
      } else {
        std::vector<float> here(kFailingCount, 1.0F);
        comm.all_reduce(here, ReduceOp::kSum);
      }
    });
  });
  ASSERT_NO_FATAL_FAILURE(expect_end_of_all(errors));
  EXPECT_EQ(errors[kDeviceRank]->code(), ErrorCode::kNoMemory);
  EXPECT_TRUE(says(*errors[kDeviceRank], "rank 1: device 0 has no room for "))
      << errors[kDeviceRank]->what();
}

TEST_F(DeviceFailures, AtTheStartOfACallEndAllRanks) {
  const Errors errors = errors_after([&] { fake_.fail(FakeCall::kKernel); });
  ASSERT_NO_FATAL_FAILURE(expect_end_of_all(errors));
  EXPECT_TRUE(says(*errors[kDeviceRank], "all_reduce #3")) << errors[kDeviceRank]->what();
  EXPECT_EQ(fake_.crime(), "");
}

// CUDA does not work in a process that was forked after its first use. There, the fake's lock may
// be held by a thread that the process does not have. Host memory works there, for a communicator
// of the process's own.
TEST_F(DeviceFailures, AfterAForkAreErrors) {
  Communicator alone;
  alone.all_reduce(block_.as<float>(), ReduceOp::kSum);
  const auto said = testing::said_by_child([&]() -> std::string {
    const Error none(ErrorCode::kSystem, "no error");
    const Error of_device = error_of([] { allocate_device(64); }).value_or(none);
    const Error of_parents =
        error_of([&] { alone.all_reduce(block_.as<float>(), ReduceOp::kSum); }).value_or(none);
    block_ = {};
    Communicator own;
    std::vector<float> here(100, 2.0F);
    own.all_reduce(here, ReduceOp::kSum);
    if (here[0] != 2.0F) return "host memory does not work";
    return std::string(of_device.what()) + "\n" + of_parents.what();
  });
  ASSERT_TRUE(said);
  EXPECT_TRUE(said->starts_with(
      "this process was forked after its parent had begun to use devices, and CUDA does not work "
      "in such a process: fork before the first use of a device, or start a program\n"))
      << *said;
  EXPECT_NE(said->find("was made before the fork of this process"), std::string::npos) << *said;
}

}  // namespace
}  // namespace rota
