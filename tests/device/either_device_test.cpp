// What rota does on devices is the same on the fake device, where CI tests it, and on a GPU, where
// ./dev gpu runs these tests. The results have the bits of the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <rota/communicator.h>
#include <rota/device_memory.h>

#include "communicator/shared_world.h"
#include "device/block.h"
#include "device/calls.h"
#include "device/stream.h"
#include "kernels/codings.h"
#include "kernels/reductions.h"
#include "kernels/reference.h"
#include "testing/error_of.h"
#include "testing/on_every_rank.h"
#include "testing/tcp_world.h"
#include "testing/test_device.h"

namespace rota {
namespace {

using kernels::testing::any_values;
using kernels::testing::bytes_at;
using testing::TestDevice;

constexpr std::size_t kArithmeticCounts[] = {1, 17, 9001};

// A stream of device 0, and memory of it. The memory is larger than the values in front and behind.
class Work {
 public:
  explicit Work(TestDevice& devices) : devices_(devices) {}

  template <class T>
  DeviceSpan<T> put(const std::vector<T>& values) {
    const std::size_t margin = 64 / sizeof(T);
    blocks_.push_back(allocate_device((values.size() + 2 * margin) * sizeof(T)));
    const DeviceSpan<T> span = blocks_.back().as<T>().subspan(margin, values.size());
    devices_.write(span, values);
    return span;
  }
  const cuda::On& on() const { return stream_.on(); }
  void finish() {
    stream_.record(done_);
    while (!done_.has_happened()) std::this_thread::yield();
  }

 private:
  TestDevice& devices_;
  device::Stream stream_{0};
  device::Event done_{0};
  std::vector<DeviceBlock> blocks_;
};

template <class T>
void expect_same_values(const std::vector<T>& values, const std::vector<T>& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(kernels::testing::same(values[i], expected[i])) << "at " << i;
  }
}

TEST(EitherDevice, GivesZeroedMemory) {
  TestDevice devices;
  const DeviceBlock block = allocate_device(100'003, devices.device(1));
  const auto bytes = devices.read(block.as<std::uint8_t>());
  EXPECT_EQ(bytes.size(), 100'003U);
  EXPECT_TRUE(std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; }));
}

TEST(EitherDevice, KnowsWhatAnAddressBelongsTo) {
  TestDevice devices;
  const DeviceBlock block = allocate_device(64, devices.device(1));
  const Block pinned = device::allocate_pinned(64);
  const std::vector<float> ordinary(16);
  const auto memory_of = [&](const void* address, std::uint8_t& device) {
    cuda::Memory memory = cuda::Memory::kHost;
    EXPECT_EQ(devices.calls().find_memory(address, memory, device), 0);
    return memory;
  };
  std::uint8_t device = 99;
  EXPECT_EQ(memory_of(ordinary.data(), device), cuda::Memory::kHost);
  EXPECT_EQ(memory_of(pinned.bytes().data() + 63, device), cuda::Memory::kPinned);
  EXPECT_EQ(device, 99);
  EXPECT_EQ(memory_of(block.bytes().address() + 63, device), cuda::Memory::kDevice);
  EXPECT_EQ(device, devices.device(1));
}

TEST(EitherDevice, DescribesItself) {
  TestDevice devices;
  cuda::DeviceFacts facts;
  ASSERT_EQ(devices.calls().describe_device(0, facts), 0);
  EXPECT_STRNE(facts.name, "");
  EXPECT_STRNE(facts.id, "");
  EXPECT_GE(facts.capability, 75);
  EXPECT_EQ(devices.calls().load_kernels(0), 0);
}

TEST(EitherDevice, OrdersStreamsByEvents) {
  TestDevice devices;
  const Block pinned = device::allocate_pinned(2 * sizeof(float));
  auto* values = reinterpret_cast<float*>(pinned.bytes().data());
  Work first(devices);
  Work second(devices);
  const auto there = first.put(std::vector<float>(1, 0.0F));
  const device::Event event(0);
  for (int i = 1; i <= 50; ++i) {
    values[0] = static_cast<float>(i);
    ASSERT_EQ(devices.calls().copy(first.on(), there.address(), &values[0], sizeof(float)), 0);
    ASSERT_EQ(devices.calls().record(first.on(), event.handle()), 0);
    ASSERT_EQ(devices.calls().wait_for(second.on(), event.handle()), 0);
    ASSERT_EQ(devices.calls().copy(second.on(), &values[1], there.address(), sizeof(float)), 0);
    second.finish();
    ASSERT_EQ(values[1], static_cast<float>(i));
  }
  EXPECT_EQ(devices.crime(), "");
}

template <class T>
class EitherArithmetic : public ::testing::Test {};

using ArithmeticTypes = ::testing::Types<Float16, Bfloat16, float, double, std::int8_t,
                                         std::uint8_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(EitherArithmetic, ArithmeticTypes);

TYPED_TEST(EitherArithmetic, HasTheBitsOfTheHost) {
  constexpr DataType kType = data_type_of<TypeParam>();
  TestDevice devices;
  const auto& scalar = kernels::reference<kernels::Reductions>();
  for (const std::size_t count : kArithmeticCounts) {
    const auto input = any_values<TypeParam>(count, 2);
    for (std::size_t i = 0; i < kernels::kReduceOpCount; ++i) {
      const auto op = static_cast<ReduceOp>(i);
      if (!why_not(op, kType).empty()) continue;
      SCOPED_TRACE(std::string(to_string(op)) + ", " + std::to_string(count));
      auto expected = any_values<TypeParam>(count, 1);
      Work work(devices);
      const auto into = work.put(expected);
      const auto from = work.put(input);
      scalar.combine(kType, op)(bytes_at(expected), bytes_at(input), count, 0.25);
      ASSERT_EQ(devices.calls().combine(work.on(), into.address(), from.address(), count, kType, op,
                                        0.25),
                0);
      work.finish();
      expect_same_values(devices.read(into), expected);
    }
  }
  EXPECT_EQ(devices.crime(), "");
}

// Numbers of like magnitudes, so that a codec rounds each of them, and not most of them to zero.
std::vector<float> numbers_to_round(std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = static_cast<float>(i * 7919 % 2003) / 7 - 143;
  }
  return numbers;
}

class EitherCodec : public ::testing::TestWithParam<Codec> {};

TEST_P(EitherCodec, HasTheBitsOfTheHost) {
  TestDevice devices;
  const auto& scalar = kernels::reference<kernels::Codings>().coding(GetParam());
  for (const std::size_t count : kArithmeticCounts) {
    const auto values = numbers_to_round(count);
    std::vector<std::byte> expected_coded(kernels::coded_bytes(GetParam(), count));
    scalar.encode(expected_coded.data(), bytes_at(values), count, {.key = 11, .first = 256});
    Work work(devices);
    const auto into = work.put(any_values<float>(count, 3));
    const auto from = work.put(values);
    const auto coded = work.put(std::vector<std::byte>(expected_coded.size()));
    ASSERT_EQ(devices.calls().encode(work.on(), coded.address(), from.address(), count, GetParam(),
                                     11, 256),
              0);
    ASSERT_EQ(devices.calls().decode_add(work.on(), into.address(), coded.address(), count,
                                         GetParam(), 0.5F),
              0);
    work.finish();
    EXPECT_EQ(devices.read(coded), expected_coded);
    auto expected = any_values<float>(count, 3);
    scalar.add(bytes_at(expected), bytes_at(expected), expected_coded.data(), count, 0.5F);
    expect_same_values(devices.read(into), expected);
  }
  EXPECT_EQ(devices.crime(), "");
}

std::string name_of_codec(const ::testing::TestParamInfo<Codec>& info) {
  std::string name(to_string(info.param));
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Codecs, EitherCodec,
                         ::testing::Values(Codec::kBfloat16, Codec::kFloat16, Codec::kInt8,
                                           Codec::kInt8Stochastic, Codec::kTopK),
                         name_of_codec);

// Ranks are threads, connected over TCP. Ranks 1 and 2 have their values on devices if `mixes`.
template <class Call>
std::vector<std::vector<float>> sums_of_ranks(TestDevice& devices, bool mixes, std::size_t count,
                                              Call call) {
  constexpr std::size_t kRanks = 4;
  CommunicatorOptions options;
  options.deadline = std::chrono::seconds(20);
  auto world = testing::tcp_world_of(kRanks, options);
  std::vector<std::vector<float>> after(kRanks);
  testing::on_every_rank(world, [&](Communicator& comm) {
    std::vector<float> own = testing::contribution_of<float>(comm.rank(), count);
    if (!mixes || comm.rank() == 0 || comm.rank() == 3) {
      call(comm, Values(own));
    } else {
      const DeviceBlock block = allocate_device(count * sizeof(float), devices.device(comm.rank()));
      devices.write(block.as<float>(), own);
      call(comm, Values(block.as<float>()));
      own = devices.read(block.as<float>());
    }
    after[comm.rank()] = own;
  });
  return after;
}

template <class Call>
void expect_bits_of_host(std::size_t count, Call call) {
  TestDevice devices;
  EXPECT_EQ(sums_of_ranks(devices, true, count, call), sums_of_ranks(devices, false, count, call));
  EXPECT_EQ(devices.crime(), "");
}

TEST(EitherRanks, AllReduceToTheBitsOfTheHost) {
  for (const std::size_t count : {std::size_t{5}, std::size_t{300'007}}) {
    expect_bits_of_host(
        count, [](Communicator& comm, Values values) { comm.all_reduce(values, ReduceOp::kMean); });
  }
}

TEST(EitherRanks, CodeToTheBitsOfTheHost) {
  for (const Codec codec : {Codec::kBfloat16, Codec::kInt8Stochastic, Codec::kTopK}) {
    expect_bits_of_host(300'007, [&](Communicator& comm, Values values) {
      comm.all_reduce(values, Reduction(ReduceOp::kSum).by(codec));
    });
  }
}

TEST(EitherRanks, MoveValues) {
  expect_bits_of_host(120'000, [](Communicator& comm, Values values) {
    comm.broadcast(values, 1);
    comm.all_gather(values);
    comm.all_to_all(values);
  });
}

TEST(EitherRanks, RefuseTheWrongMemory) {
  TestDevice devices;
  Communicator comm;
  std::vector<float> here(100);
  const DeviceBlock there = allocate_device(400);
  const auto refuses = [&](Values values) {
    const auto error = testing::error_of([&] { comm.all_reduce(values, ReduceOp::kSum); });
    return error && error->code() == ErrorCode::kInvalidArgument;
  };
  EXPECT_FALSE(refuses(there.as<float>()));
  EXPECT_TRUE(refuses(DeviceSpan<float>(here.data(), 100, 0)));
  EXPECT_TRUE(refuses(std::span(there.as<float>().address(), 100)));
}

}  // namespace
}  // namespace rota
