// An address in other memory than the caller says is refused before anything is done. CUDA is asked
// only once about the addresses of a call that comes again.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rota/communicator.h>
#include <rota/device_memory.h>

#include "device/block.h"
#include "device/calls.h"
#include "testing/error_of.h"
#include "testing/fake_device.h"

namespace rota {
namespace {

using testing::error_of;
using testing::FakeDevice;

std::size_t questions = 0;
const void* managed = nullptr;  // An address of managed memory.

class MemoryChecks : public ::testing::Test {
 protected:
  static constexpr std::size_t kCount = 100;

  // Counts what rota asks about addresses.
  static const cuda::Calls& counting_calls() {
    static const cuda::Calls kCounting = [] {
      cuda::Calls calls = FakeDevice::calls();
      calls.find_memory = [](const void* address, cuda::Memory& memory,
                             std::uint8_t& device) noexcept {
        ++questions;
        if (address == managed) return device::kNotSupported;
        return FakeDevice::calls().find_memory(address, memory, device);
      };
      return calls;
    }();
    cuda::use(kCounting);
    return kCounting;
  }

  // Returns how the call is refused; empty if it is accepted.
  template <class Call>
  static std::string refusal(Call call) {
    const auto error = error_of(call);
    if (!error) return "";
    EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
    return error->what();
  }

  template <class Call>
  static std::size_t questions_of(Call call) {
    questions = 0;
    call();
    return questions;
  }

  void TearDown() override { EXPECT_EQ(fake_.crime(), ""); }

  FakeDevice fake_;
  const cuda::Calls& calls_ = counting_calls();
  DeviceBlock block_ = allocate_device(kCount * sizeof(float));
  DeviceSpan<float> there_ = block_.as<float>();
  std::vector<float> here_ = std::vector<float>(kCount);
  Communicator comm_;
};

TEST_F(MemoryChecks, RefuseEveryBufferInOtherMemory) {
  const DeviceBlock other = allocate_device(kCount * sizeof(float));
  const DeviceSpan<float> not_there(here_.data(), kCount, 0);
  const std::span<float> not_here(there_.address(), kCount);
  const DeviceSpan<float> elsewhere(other.as<float>().address(), kCount, 1);
  EXPECT_EQ(refusal([&] { comm_.all_reduce(not_there, ReduceOp::kSum); }),
            "all_reduce: the output's address is in host memory, and not in the memory of device 0 "
            "as the caller says");
  EXPECT_EQ(refusal([&] { comm_.broadcast(elsewhere, 0); }),
            "broadcast: the output's address is in the memory of device 0, and not in the memory "
            "of device 1 as the caller says");
  EXPECT_EQ(refusal([&] { comm_.all_reduce(not_there, there_, ReduceOp::kSum); }),
            "all_reduce: the input's address is in host memory, and not in the memory of device 0 "
            "as the caller says");
  EXPECT_EQ(refusal([&] { comm_.all_reduce(not_here, here_, ReduceOp::kSum); }),
            "all_reduce: the input's address is in the memory of device 0, and not in host memory "
            "as the caller says");
  EXPECT_EQ(refusal([&] {
              comm_.all_reduce_with_feedback(there_, not_there,
                                             Reduction(ReduceOp::kSum).by(Codec::kInt8));
            }),
            "all_reduce: the feedback's address is in host memory, and not in the memory of device "
            "0 as the caller says");
}

TEST_F(MemoryChecks, RefuseManagedMemory) {
  managed = there_.address();
  EXPECT_EQ(refusal([&] { comm_.all_reduce(there_, ReduceOp::kSum); }),
            "all_reduce: the output's address is in managed memory, which CUDA moves between the "
            "host and devices: use memory of allocate_device() or cudaMalloc()");
  managed = nullptr;
  EXPECT_EQ(refusal([&] { comm_.all_reduce(there_, ReduceOp::kSum); }), "");
}

TEST_F(MemoryChecks, RefuseBuffersThatEndInOtherMemory) {
  const DeviceSpan<float> long_one(there_.address(), kCount + 100'000, 0);
  EXPECT_EQ(refusal([&] { comm_.all_reduce(long_one, ReduceOp::kSum); }),
            "all_reduce: the output's last byte is in host memory, and not in the memory of device "
            "0 as the caller says");
}

// The call before had good buffers of the same size.
TEST_F(MemoryChecks, RefuseWrongMemoryInACallThatComesAgain) {
  const DeviceSpan<float> not_there(here_.data(), kCount, 0);
  const std::span<float> not_here(there_.address(), kCount);
  EXPECT_EQ(refusal([&] { comm_.all_reduce(here_, ReduceOp::kSum); }), "");
  EXPECT_NE(refusal([&] { comm_.all_reduce(not_here, ReduceOp::kSum); }), "");
  EXPECT_EQ(refusal([&] { comm_.all_reduce(there_, ReduceOp::kSum); }), "");
  EXPECT_NE(refusal([&] { comm_.all_reduce(not_there, ReduceOp::kSum); }), "");
}

TEST_F(MemoryChecks, AskOnceForACallThatComesAgain) {
  const DeviceBlock more = allocate_device(2 * kCount * sizeof(float));
  const DeviceSpan<float> output = more.as<float>().first(kCount);
  const DeviceSpan<float> feedback = more.as<float>().subspan(kCount);
  const Reduction coded = Reduction(ReduceOp::kSum).by(Codec::kInt8);
  const auto device = [&] { comm_.all_reduce(there_, ReduceOp::kSum); };
  const auto two = [&] { comm_.all_reduce(there_, output, ReduceOp::kSum); };
  const auto with_feedback = [&] { comm_.all_reduce_with_feedback(there_, feedback, coded); };
  const auto host = [&] { comm_.all_reduce(here_, ReduceOp::kSum); };
  EXPECT_EQ(questions_of(device), 2U);  // For the first byte and for the last one.
  EXPECT_EQ(questions_of(device), 0U);
  EXPECT_EQ(questions_of(two), 2U);  // One of the buffers is known.
  EXPECT_EQ(questions_of(two), 0U);
  EXPECT_EQ(questions_of(with_feedback), 2U);
  EXPECT_EQ(questions_of(with_feedback), 0U);
  EXPECT_EQ(questions_of(host), 2U);
  EXPECT_EQ(questions_of(host), 0U);
  EXPECT_EQ(questions_of(device), 0U);
}

// Memory that rota gives back may become memory of another kind.
TEST_F(MemoryChecks, AskAgainForAGroupOnceMemoryWasGivenBack) {
  const std::array<Values, 2> group{std::span(here_).first(10), std::span(here_).last(20)};
  const auto sum = [&] { comm_.all_reduce(group, ReduceOp::kSum); };
  EXPECT_EQ(questions_of(sum), 4U);
  EXPECT_EQ(questions_of(sum), 0U);
  allocate_device(64);
  EXPECT_EQ(questions_of(sum), 4U);
  EXPECT_EQ(questions_of(sum), 0U);
}

// Buckets of one size are calls of one description.
TEST_F(MemoryChecks, AskOnceForEachOfManyBuffers) {
  constexpr std::size_t kBuffers = 8;
  const DeviceBlock block = allocate_device(kBuffers * kCount * sizeof(float));
  const auto step = [&] {
    for (std::size_t i = 0; i < kBuffers; ++i) {
      comm_.all_reduce(block.as<float>().subspan(i * kCount, kCount), ReduceOp::kSum);
    }
  };
  EXPECT_EQ(questions_of(step), 2 * kBuffers);
  EXPECT_LE(questions_of(step), kBuffers);  // Some may share a row of the table.
}

// Both calls were made before.
TEST_F(MemoryChecks, AskAnewOnceMemoryWasFreed) {
  std::optional<DeviceBlock> block(allocate_device(kCount * sizeof(float)));
  const DeviceSpan<float> gone = block->as<float>();
  const auto call = [&] { comm_.all_reduce(gone, ReduceOp::kSum); };
  const auto other_call = [&] { comm_.all_reduce(there_, ReduceOp::kSum); };
  EXPECT_EQ(questions_of(call), 2U);
  EXPECT_EQ(questions_of(other_call), 2U);
  EXPECT_EQ(questions_of(call), 0U);
  block.reset();
  EXPECT_EQ(refusal(call),
            "all_reduce: the output's address is in host memory, and not in the memory of device 0 "
            "as the caller says");
  EXPECT_EQ(questions_of(other_call), 2U);
  EXPECT_EQ(questions_of(other_call), 0U);
}

// The same address is now in the memory of another device.
TEST(MemoryChecksOfAddresses, AskAboutOtherMemoryAtTheSameAddress) {
  FakeDevice fake({.device_count = 2, .reuses_addresses = true, .moves_addresses = true});
  Communicator comm;
  const auto allocate = [](std::uint8_t device) { return allocate_device(4096, device); };
  std::optional<DeviceBlock> block(allocate(0));
  const DeviceSpan<float> on_0 = block->as<float>();
  EXPECT_FALSE(error_of([&] { comm.all_reduce(on_0, ReduceOp::kSum); }));
  block.reset();
  block.emplace(allocate(1));
  ASSERT_EQ(block->as<float>().address(), on_0.address());
  const auto error = error_of([&] { comm.all_reduce(on_0, ReduceOp::kSum); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(),
               "all_reduce: the output's address is in the memory of device 1, and not in the "
               "memory of device 0 as the caller says");
  EXPECT_FALSE(error_of([&] { comm.all_reduce(block->as<float>(), ReduceOp::kSum); }));
  EXPECT_EQ(fake.crime(), "");
}

TEST_F(MemoryChecks, AskNothingAboutBuffersWithoutElements) {
  EXPECT_EQ(questions_of([&] { comm_.all_reduce(there_.first(0), ReduceOp::kSum); }), 0U);
}

}  // namespace
}  // namespace rota
