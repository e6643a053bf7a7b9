// Ranks with values on a device and ranks with values in host memory are one world. All end with
// the bits that they would have if all values were in host memory. Method: ranks are threads,
// connected over TCP; ranks 1 and 2 use the fake device.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <rota/communicator.h>
#include <rota/device_memory.h>
#include <rota/gradient_buckets.h>

#include "communicator/shared_world.h"
#include "kernels/codings.h"
#include "testing/error_of.h"
#include "testing/fake_device.h"
#include "testing/on_every_rank.h"
#include "testing/tcp_world.h"

namespace rota {
namespace {

using testing::contribution_of;
using testing::error_of;
using testing::FakeCall;
using testing::FakeDevice;

constexpr std::size_t kWorldSize = 4;

bool uses_device(std::size_t rank) { return rank == 1 || rank == 2; }

std::vector<Communicator> world_of(std::size_t world_size, const std::string& plan,
                                   std::chrono::milliseconds deadline = std::chrono::seconds(20)) {
  CommunicatorOptions options;
  options.deadline = deadline;
  options.plan = plan;
  return testing::tcp_world_of(world_size, options);
}

// Runs `call` on all ranks with `count` values of each, in host memory or, if `mixes`, on the fake
// device where uses_device() says so. Returns the values of each rank afterwards.
template <class T, class Call>
std::vector<std::vector<T>> values_after(FakeDevice& fake, bool mixes, std::size_t count,
                                         const std::string& plan, Call call) {
  auto world = world_of(kWorldSize, plan);
  std::vector<std::vector<T>> after(kWorldSize);
  testing::on_every_rank(world, [&](Communicator& comm) {
    std::vector<T> own = contribution_of<T>(comm.rank(), count);
    if (!mixes || !uses_device(comm.rank())) {
      call(comm, Values(own));
    } else {
      const DeviceBlock block = allocate_device(count * sizeof(T), comm.rank() == 1 ? 0 : 1);
      fake.write(block.as<T>(), own);
      call(comm, Values(block.as<T>()));
      own = fake.read(block.as<T>());
    }
    after[comm.rank()] = own;
  });
  return after;
}

// Compares bits, and leaves out what an operation leaves unspecified.
template <class T>
void expect_same(const std::vector<std::vector<T>>& host,
                 const std::vector<std::vector<T>>& mixed) {
  for (std::size_t rank = 0; rank < host.size(); ++rank) {
    ASSERT_EQ(host[rank].size(), mixed[rank].size());
    const std::size_t bytes = host[rank].size() * sizeof(T);
    EXPECT_TRUE(bytes == 0 || std::memcmp(host[rank].data(), mixed[rank].data(), bytes) == 0)
        << "rank " << rank;
  }
}

constexpr std::size_t kCounts[] = {0, 1, 17, 1000, 65536, 300'007};

TEST(DeviceRanks, AllReduceToTheBitsOfTheHost) {
  FakeDevice fake;
  for (const std::string plan : {"ring", "direct", "hub", "tree", "auto"}) {
    for (const std::size_t count : kCounts) {
      SCOPED_TRACE(plan + ", " + std::to_string(count));
      const auto call = [](Communicator& comm, Values values) {
        comm.all_reduce(values, ReduceOp::kMean);
      };
      const auto host = values_after<float>(fake, false, count, plan, call);
      expect_same(host, values_after<float>(fake, true, count, plan, call));
    }
  }
  EXPECT_EQ(fake.crime(), "");
}

TEST(DeviceRanks, ReduceEveryTypeAndAPreScaledSum) {
  FakeDevice fake;
  const auto call = [](Communicator& comm, Values values) {
    comm.all_reduce(values, Reduction::pre_scaled_sum(0.5 + static_cast<double>(comm.rank())));
  };
  const auto compare = [&]<class T>(T) {
    const auto host = values_after<T>(fake, false, 70'001, "ring", call);
    expect_same(host, values_after<T>(fake, true, 70'001, "ring", call));
  };
  compare(0.0F);
  compare(0.0);
  compare(Float16());
  compare(Bfloat16());
}

TEST(DeviceRanks, TakeMeansOfFloat16ToTheBitsOfTheHost) {
  FakeDevice fake;
  for (const std::string plan : {"ring", "direct", "hub", "tree"}) {
    SCOPED_TRACE(plan);
    const auto call = [](Communicator& comm, Values values) {
      comm.all_reduce(values, ReduceOp::kMean);
    };
    const auto host = values_after<Float16>(fake, false, 70'001, plan, call);
    expect_same(host, values_after<Float16>(fake, true, 70'001, plan, call));
  }
  EXPECT_EQ(fake.crime(), "");
}

TEST(DeviceRanks, CodeToTheBitsOfTheHost) {
  FakeDevice fake;
  for (const Codec codec : {Codec::kBfloat16, Codec::kInt8, Codec::kInt8Stochastic, Codec::kTopK}) {
    const auto call = [&](Communicator& comm, Values values) {
      comm.all_reduce(values, Reduction(ReduceOp::kMean).by(codec));
    };
    const auto host = values_after<float>(fake, false, 300'007, "ring", call);
    expect_same(host, values_after<float>(fake, true, 300'007, "ring", call));
  }
}

// A codec makes the bytes that cross the bus fewer by the same factor as those of the network.
TEST(DeviceRanks, MoveOnlyCodedBytesAcrossTheBus) {
  constexpr std::size_t kValueCount = 300'007;
  FakeDevice fake;
  const auto crossing = [&](Codec codec) {
    const std::size_t before = fake.bytes_across_the_bus();
    values_after<float>(fake, true, kValueCount, "ring", [&](Communicator& comm, Values values) {
      comm.all_reduce(values, Reduction(ReduceOp::kSum).by(codec));
    });
    return fake.bytes_across_the_bus() - before;
  };
  const std::size_t bytes = kValueCount * sizeof(float);
  const std::size_t plain = crossing(Codec::kIdentity);
  EXPECT_GT(plain, 2 * bytes);  // Two ranks use a device.
  for (const Codec codec : {Codec::kBfloat16, Codec::kInt8, Codec::kInt8Stochastic, Codec::kTopK}) {
    const std::size_t coded = crossing(codec);
    EXPECT_GT(coded, 0U);
    EXPECT_LE(coded, plain * kernels::coded_bytes(codec, kValueCount) / bytes) << to_string(codec);
  }
  EXPECT_EQ(fake.crime(), "");
}

TEST(DeviceRanks, MoveValuesByEveryOtherCollective) {
  FakeDevice fake;
  const auto compare = [&](auto call) {
    const auto host = values_after<float>(fake, false, 120'000, "auto", call);
    expect_same(host, values_after<float>(fake, true, 120'000, "auto", call));
  };
  compare([](Communicator& comm, Values values) { comm.broadcast(values, 1); });
  compare([](Communicator& comm, Values values) { comm.all_gather(values); });
  compare([](Communicator& comm, Values values) { comm.all_to_all(values); });
  compare([](Communicator& comm, Values values) {
    if (comm.rank() == 1) comm.send(values, 3);
    if (comm.rank() == 3) comm.receive(values, 1);
    if (comm.rank() == 0) comm.send(values, 2);
    if (comm.rank() == 2) comm.receive(values, 0);
  });
}

// Each rank has one parameter where its model computes, and one in host memory.
TEST(DeviceRanks, GetTheParametersOfOneRank) {
  FakeDevice fake;
  constexpr std::size_t kWeights = 1009;
  auto world = world_of(3, "auto");
  testing::on_every_rank(world, [&](Communicator& comm) {
    const auto own = static_cast<float>(comm.rank());
    std::vector<float> here(kWeights);
    std::vector<double> biases(7);
    const DeviceBlock block = allocate_device(kWeights * sizeof(float));
    const DeviceSpan<float> there = block.as<float>();
    for (const std::size_t root : {0, 1, 2}) {
      here.assign(kWeights, own);
      biases.assign(7, 10.0 + own);
      fake.write(there, here);
      const Values weights = uses_device(comm.rank()) ? Values(there) : Values(here);
      broadcast_parameters(comm, {weights, biases}, root);
      const auto expected = static_cast<float>(root);
      const std::vector<float> after = uses_device(comm.rank()) ? fake.read(there) : here;
      EXPECT_EQ(after, std::vector<float>(kWeights, expected)) << "from " << root;
      EXPECT_EQ(biases, std::vector<double>(7, 10.0 + expected));
    }
  });
  EXPECT_EQ(fake.crime(), "");
}

// Operations on host memory and on a device use the same connections. They keep their order.
TEST(DeviceRanks, MixCallsOnBothMemories) {
  FakeDevice fake;
  auto world = world_of(2, "ring");
  testing::on_every_rank(world, [&](Communicator& comm) {
    constexpr std::size_t kMany = 100'000;
    const DeviceBlock block = allocate_device(kMany * sizeof(float));
    fake.write(block.as<float>(), std::vector<float>(kMany, 1.0F));
    std::vector<float> here(kMany, 2.0F);
    std::vector<float> also_here(kMany, 3.0F);
    std::vector<Request> requests;
    requests.push_back(comm.all_reduce_async(here, ReduceOp::kSum));
    requests.push_back(comm.all_reduce_async(block.as<float>(), ReduceOp::kSum));
    requests.push_back(comm.all_reduce_async(also_here, ReduceOp::kSum));
    wait_all(requests);
    EXPECT_EQ(here, std::vector<float>(kMany, 4.0F));
    EXPECT_EQ(also_here, std::vector<float>(kMany, 6.0F));
    EXPECT_EQ(fake.read(block.as<float>()), std::vector<float>(kMany, 2.0F));
  });
}

TEST(DeviceRanks, ScaleInAWorldOfOne) {
  FakeDevice fake;
  Communicator comm;
  const DeviceBlock block = allocate_device(100 * sizeof(float));
  fake.write(block.as<float>(), std::vector<float>(100, 3.0F));
  comm.all_reduce(block.as<float>(), Reduction::pre_scaled_sum(2));
  EXPECT_EQ(fake.read(block.as<float>()), std::vector<float>(100, 6.0F));
}

TEST(DeviceRanks, NeedNoMemoryOfADeviceOfTheirOwnAfterwards) {
  FakeDevice fake;
  {
    auto world = world_of(2, "ring");
    testing::on_every_rank(world, [&](Communicator& comm) {
      const DeviceBlock block = allocate_device(100'000 * sizeof(float));
      comm.all_reduce(block.as<float>(), ReduceOp::kSum);
    });
  }
  EXPECT_EQ(fake.open_things(), 0U);
}

// A slow device still works on segments when their communicator is closed.
TEST(DeviceRanks, WaitForTheDeviceBeforeTheyEnd) {
  FakeDevice fake({.bytes_a_millisecond = 32 * 1024});
  {
    const DeviceBlock block = allocate_device(300'000 * sizeof(float));
    auto world = world_of(2, "ring");
    Request request = world[0].all_reduce_async(block.as<float>(), ReduceOp::kSum);
    EXPECT_FALSE(request.test());
  }
  EXPECT_EQ(fake.crime(), "");
  EXPECT_EQ(fake.open_things(), 0U);
}

TEST(DeviceRanks, RefuseGroupsThatTheHostCannotPack) {
  FakeDevice fake;
  auto world = world_of(2, "ring");
  testing::on_every_rank(world, [&](Communicator& comm) {
    const DeviceBlock block = allocate_device(400);
    const std::array<Values, 2> group{block.as<float>().first(50), block.as<float>().subspan(50)};
    const auto error = error_of([&] { comm.all_reduce(group, ReduceOp::kSum); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  });
}

// Every wait ends: a device that does nothing is found by the rank that it belongs to.
TEST(DeviceRanks, EndWhenADeviceStandsStill) {
  FakeDevice fake;
  auto world = world_of(2, "ring", std::chrono::milliseconds(500));
  testing::on_every_rank(world, [&](Communicator& comm) {
    std::vector<float> own(300'000, 1.0F);
    if (comm.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));  // Its deadline is later.
      EXPECT_TRUE(error_of([&] { comm.all_reduce(own, ReduceOp::kSum); }));
      return;
    }
    const DeviceBlock block = allocate_device(own.size() * sizeof(float));
    fake.hold();
    const auto error = error_of([&] { comm.all_reduce(block.as<float>(), ReduceOp::kSum); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kTimeout) << error->what();
    EXPECT_NE(std::string(error->what()).find("device 0 did not do its part within 0.5 s"),
              std::string::npos)
        << error->what();
  });
}

// A failure of one rank's device ends the call on every rank, and says what failed.
TEST(DeviceRanks, EndWhenADeviceFails) {
  FakeDevice fake;
  std::vector<DeviceBlock> kept;  // The device may use the values after the failure.
  for (const bool faults : {false, true}) {
    auto world = world_of(2, "ring", std::chrono::seconds(2));
    testing::on_every_rank(world, [&](Communicator& comm) {
      std::vector<float> own(300'000, 1.0F);
      if (comm.rank() == 1) {
        EXPECT_TRUE(error_of([&] { comm.all_reduce(own, ReduceOp::kSum); }));
        return;
      }
      const DeviceBlock& block = kept.emplace_back(allocate_device(own.size() * sizeof(float)));
      fake.write(block.as<float>(), own);
      if (faults) {
        fake.fault();
      } else {
        fake.fail(FakeCall::kCopy, 2);
      }
      const auto error = error_of([&] { comm.all_reduce(block.as<float>(), ReduceOp::kSum); });
      ASSERT_TRUE(error);
      EXPECT_EQ(error->code(), ErrorCode::kSystem) << error->what();
      EXPECT_NE(std::string(error->what()).find("device 0: "), std::string::npos) << error->what();
    });
  }
  EXPECT_EQ(fake.crime(), "");
}

}  // namespace
}  // namespace rota
