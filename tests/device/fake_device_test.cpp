// The fake device is as strict as a real one: the host cannot touch its memory, work is late, and
// only the rules of streams and events order it. What breaks a rule is found.
#include "testing/fake_device.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include <rota/device_memory.h>

#include "device/block.h"
#include "device/stream.h"

namespace rota {
namespace {

using device::Event;
using device::Stream;
using testing::FakeCall;
using testing::FakeDevice;

const cuda::Calls& calls() { return FakeDevice::calls(); }

std::span<float> floats_in(const Block& block) {
  return {reinterpret_cast<float*>(block.bytes().data()), block.bytes().size() / sizeof(float)};
}

std::uint64_t* word_in(const Block& block) {
  return reinterpret_cast<std::uint64_t*>(block.bytes().data());
}

void work_off(FakeDevice& fake) {
  while (fake.work()) continue;
}

// Memory of a device and of the host, and a fake that works only when the test says so.
class FakeDeviceTest : public ::testing::Test {
 protected:
  void* make(std::size_t bytes) {
    void* address = nullptr;
    EXPECT_EQ(calls().allocate(0, bytes, address), 0);
    return address;
  }

  FakeDevice fake_{{.has_thread = false}};
};

using FakeDeviceDeathTest = FakeDeviceTest;

TEST_F(FakeDeviceDeathTest, FaultsWhenTheHostTouchesItsMemory) {
  auto* values = static_cast<volatile float*>(make(4096));
  EXPECT_DEATH(values[3] = 1.0F, "");
  EXPECT_DEATH(static_cast<void>(values[3]), "");
}

TEST_F(FakeDeviceTest, WorksLateAndInTheOrderOfAStream) {
  const Block host = device::allocate_pinned(2 * sizeof(float));
  auto* there = static_cast<float*>(make(2 * sizeof(float)));
  Stream stream(0);
  const Event event(0);
  floats_in(host)[0] = 5;
  ASSERT_EQ(calls().copy(stream.on(), there, floats_in(host).data(), 4), 0);
  ASSERT_EQ(calls().combine(stream.on(), there, there, 1, DataType::kFloat32, ReduceOp::kSum, 1),
            0);
  ASSERT_EQ(calls().copy(stream.on(), floats_in(host).data() + 1, there, 4), 0);
  stream.record(event);
  EXPECT_FALSE(event.has_happened());
  EXPECT_EQ(floats_in(host)[1], 0.0F);
  work_off(fake_);
  EXPECT_TRUE(event.has_happened());
  EXPECT_EQ(floats_in(host)[1], 10.0F);
}

// Two streams write to one place. Without an event either may come last, or both in pieces; with an
// event, only the second.
TEST_F(FakeDeviceTest, OrdersStreamsOnlyByEvents) {
  const Block host = device::allocate_pinned(3 * sizeof(float));
  const auto values = floats_in(host);
  values[0] = 1;
  values[1] = 2;
  auto* there = static_cast<float*>(make(sizeof(float)));
  Stream first(0);
  Stream second(0);
  const Event event(0);
  std::set<float> ends;
  std::set<float> ordered_ends;
  for (int i = 0; i < 64; ++i) {
    const bool is_ordered = i % 2 == 0;
    calls().copy(first.on(), there, values.data(), 4);
    if (is_ordered) {
      first.record(event);
      calls().wait_for(second.on(), event.handle());
    }
    calls().copy(second.on(), there, &values[1], 4);
    work_off(fake_);
    calls().copy(first.on(), &values[2], there, 4);
    work_off(fake_);
    (is_ordered ? ordered_ends : ends).insert(values[2]);
  }
  EXPECT_TRUE(ends.contains(1) && ends.contains(2));
  EXPECT_EQ(ordered_ends, (std::set<float>{2}));
}

TEST_F(FakeDeviceTest, KeepsAStreamBehindAnEventThatIsDestroyed) {
  const Block host = device::allocate_pinned(sizeof(std::uint64_t));
  Stream first(0);
  Stream second(0);
  {
    const Event event(0);
    ASSERT_EQ(calls().wait_for_word(first.on(), word_in(host), 1), 0);
    first.record(event);
    calls().wait_for(second.on(), event.handle());
  }
  const Event passed(0);
  second.record(passed);
  work_off(fake_);
  EXPECT_FALSE(passed.has_happened());
  *word_in(host) = 1;
  work_off(fake_);
  EXPECT_TRUE(passed.has_happened());
}

// Numbers are compared as CUDA compares them: their difference has a sign.
TEST_F(FakeDeviceTest, LetsAStreamWaitForAWordOfTheHost) {
  const Block host = device::allocate_pinned(sizeof(std::uint64_t));
  Stream stream(0);
  const Event event(0);
  for (const std::uint64_t number : {std::uint64_t{5}, ~std::uint64_t{0}, std::uint64_t{3}}) {
    ASSERT_EQ(calls().wait_for_word(stream.on(), word_in(host), number), 0);
    stream.record(event);
    *word_in(host) = number - 1;
    work_off(fake_);
    EXPECT_FALSE(event.has_happened());
    *word_in(host) = number + 1;
    work_off(fake_);
    EXPECT_TRUE(event.has_happened());
  }
}

TEST_F(FakeDeviceTest, FindsAWordThatWasGivenBackTooEarly) {
  Stream stream(0);
  {
    const Block host = device::allocate_pinned(sizeof(std::uint64_t));
    ASSERT_EQ(calls().wait_for_word(stream.on(), word_in(host), 1), 0);
  }
  work_off(fake_);
  EXPECT_EQ(fake_.crime(), "a wait for a word uses memory that is not there, or not any more");
}

TEST_F(FakeDeviceTest, FindsWorkOnMemoryThatWasGivenBackTooEarly) {
  const Block host = device::allocate_pinned(64);
  void* there = make(64);
  {
    Stream stream(0);
    ASSERT_EQ(calls().copy(stream.on(), there, host.bytes().data(), 64), 0);
    calls().free(0, there);
    work_off(fake_);
  }
  EXPECT_EQ(fake_.crime(), "a copy uses memory that is not there, or not any more");
}

TEST_F(FakeDeviceTest, FindsAStreamThatIsDestroyedTooEarly) {
  const Block host = device::allocate_pinned(64);
  void* there = make(64);
  {
    Stream stream(0);
    ASSERT_EQ(calls().copy(stream.on(), there, host.bytes().data(), 64), 0);
  }
  EXPECT_EQ(fake_.crime(), "a stream with work was destroyed");
}

TEST_F(FakeDeviceTest, RefusesOrdinaryMemoryAndStrangeStreams) {
  std::vector<float> ordinary(16);
  void* there = make(64);
  const Stream stream(0);
  EXPECT_NE(calls().copy(stream.on(), there, ordinary.data(), 64), 0);
  EXPECT_NE(calls().copy({.device = 1, .stream = stream.on().stream}, there, there, 64), 0);
}

TEST_F(FakeDeviceTest, FailsOnDemand) {
  const Block host = device::allocate_pinned(64);
  void* there = make(64);
  const Stream stream(0);
  fake_.fail(FakeCall::kCopy, 1);
  EXPECT_EQ(calls().copy(stream.on(), there, host.bytes().data(), 64), 0);
  EXPECT_NE(calls().copy(stream.on(), there, host.bytes().data(), 64), 0);
  EXPECT_EQ(calls().copy(stream.on(), there, host.bytes().data(), 64), 0);
  work_off(fake_);
  EXPECT_EQ(fake_.crime(), "");
}

TEST_F(FakeDeviceTest, TellsWhatAnAddressBelongsTo) {
  const Block host = device::allocate_pinned(64);
  std::vector<float> ordinary(16);
  auto* there = static_cast<std::byte*>(make(64));
  const auto memory_of = [](const void* address) {
    cuda::Memory memory = cuda::Memory::kHost;
    std::uint8_t device = 9;
    EXPECT_EQ(calls().find_memory(address, memory, device), 0);
    return memory;
  };
  EXPECT_EQ(memory_of(there + 63), cuda::Memory::kDevice);
  EXPECT_EQ(memory_of(host.bytes().data()), cuda::Memory::kPinned);
  EXPECT_EQ(memory_of(ordinary.data()), cuda::Memory::kHost);
}

}  // namespace
}  // namespace rota
