// The page about errors quotes real messages about GPUs: this test provokes each of them. Method: a
// fake device faults, is too small, or stands still.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <rota/communicator.h>
#include <rota/device_memory.h>

#include "device/claims.h"
#include "docs/errors_page.h"
#include "os/shared_mapping.h"
#include "testing/error_of.h"
#include "testing/fake_device.h"
#include "testing/on_every_rank.h"
#include "testing/said_by_child.h"
#include "testing/tcp_world.h"

namespace rota {
namespace {

using testing::expect_quoted;
using testing::FakeCall;
using testing::FakeDevice;

constexpr ErrorCode kOtherCode = ErrorCode::kClosed;  // No call here throws it.

// Returns the error of a call; one with another code if the call throws none.
template <class Call>
Error failure_of(Call call) {
  return testing::error_of(call).value_or(Error(kOtherCode, "nothing was thrown"));
}

std::vector<Communicator> ring_of(std::size_t world_size, std::chrono::milliseconds deadline) {
  CommunicatorOptions options;
  options.plan = "ring";
  options.deadline = deadline;
  return testing::tcp_world_of(world_size, options);
}

// The name of the GPU and the numbers of the processes are those of the page. This test comes
// first: the child of its fork claims all devices that this process has claimed.
TEST(ErrorsPageOnGpus, QuotesTheRefusalOfAnotherRanksGpu) {
  os::Fd file = os::make_shared_memory("claims", 1);
  const int number = file.get();
  device::join_claims(std::move(file), 0);
  device::claim(0, "NVIDIA H200", "GPU-of-this-test");
  const auto said = testing::said_by_child([&] {
    const Error error = failure_of([&] { device::join_claims(os::Fd(::dup(number)), 1); });
    return error.code() == ErrorCode::kInvalidArgument ? error.what() : std::string("no refusal");
  });
  device::give_up_claim();
  ASSERT_TRUE(said);
  const std::string text = std::regex_replace(
      std::regex_replace(*said, std::regex("rank 0 \\(pid [0-9]+\\)"), "rank 0 (pid 4710)"),
      std::regex("rank 1 \\(pid [0-9]+\\)"), "rank 1 (pid 4711)");
  expect_quoted({ErrorCode::kInvalidArgument, text}, ErrorCode::kInvalidArgument);
}

TEST(ErrorsPageOnGpus, QuotesTheRefusalOfHostMemory) {
  FakeDevice fake;
  Communicator alone;
  std::vector<float> here(100);
  const DeviceSpan<float> not_there(here.data(), here.size(), 0);
  expect_quoted(failure_of([&] { alone.all_reduce(not_there, ReduceOp::kSum); }),
                ErrorCode::kInvalidArgument);
}

TEST(ErrorsPageOnGpus, QuotesTheLackOfMemoryOfAGpu) {
  FakeDevice fake({.room = 1000});
  expect_quoted(failure_of([] { allocate_device(std::size_t{1} << 33); }), ErrorCode::kNoMemory);
}

// The device faults in the third call.
TEST(ErrorsPageOnGpus, QuotesAFault) {
  constexpr std::size_t kCount = 100'000;
  FakeDevice fake;
  const DeviceBlock block = allocate_device(kCount * sizeof(float));
  auto world = ring_of(3, std::chrono::seconds(10));
  std::vector<Error> errors(world.size(), Error(kOtherCode, "nothing was thrown"));
  testing::on_every_rank(world, [&](Communicator& comm) {
    const bool is_on_device = comm.rank() == 1;
    std::vector<float> here(kCount, 1.0F);
    const Values values = is_on_device ? Values(block.as<float>()) : Values(std::span(here));
    errors[comm.rank()] = failure_of([&] {
      for (int call = 1; call <= 3; ++call) {
        if (is_on_device && call == 3) fake.fault();
        comm.all_reduce(values, ReduceOp::kSum);
      }
    });
  });
  expect_quoted(errors[1], ErrorCode::kSystem);
  expect_quoted(failure_of([] { allocate_device(64); }), ErrorCode::kSystem);
}

// Rank 1 comes when rank 0 waits for its device, so that rank 0 is the first whose deadline passes.
TEST(ErrorsPageOnGpus, QuotesADeviceThatStandsStill) {
  FakeDevice fake;
  auto world = ring_of(2, std::chrono::milliseconds(500));
  std::optional<Error> error;
  testing::on_every_rank(world, [&](Communicator& comm) {
    std::vector<float> here(300'000, 1.0F);
    if (comm.rank() == 1) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (fake.count(FakeCall::kCopy) == 0 && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      EXPECT_TRUE(testing::error_of([&] { comm.all_reduce(here, ReduceOp::kSum); }));
      return;
    }
    const DeviceBlock block = allocate_device(here.size() * sizeof(float));
    fake.hold();
    error = failure_of([&] { comm.all_reduce(block.as<float>(), ReduceOp::kSum); });
  });
  ASSERT_TRUE(error);
  expect_quoted(*error, ErrorCode::kTimeout);
}

}  // namespace
}  // namespace rota
