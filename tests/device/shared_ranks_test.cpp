// Ranks of one host share memory also where the values of some ranks are on a device. All end with
// the bits that they would have if all values were in host memory. Method: ranks are threads; ranks
// 1 and 2 use the fake device.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <rota/communicator.h>
#include <rota/device_memory.h>

#include "communicator/shared_world.h"
#include "device/placed_values.h"
#include "testing/error_of.h"
#include "testing/fake_device.h"
#include "testing/mixed_world.h"
#include "testing/on_every_rank.h"
#include "testing/tcp_world.h"

namespace rota {
namespace {

using testing::contribution_of;
using testing::error_of;
using testing::FakeCall;
using testing::FakeDevice;
using testing::Placed;

constexpr std::size_t kRanks = 4;

enum class Over : std::uint8_t { kSharedMemory, kSockets, kBoth };

std::string name_of(const ::testing::TestParamInfo<Over>& info) {
  return std::array{"SharedMemory", "Sockets", "Both"}[static_cast<std::size_t>(info.param)];
}

std::vector<Communicator> world_over(Over over, const std::string& plan,
                                     std::chrono::milliseconds deadline = testing::kVeryLong) {
  CommunicatorOptions options;
  options.deadline = deadline;
  options.plan = plan;
  if (over == Over::kSockets) return testing::tcp_world_of(kRanks, options);
  if (over == Over::kBoth) return testing::mixed_world_of(kRanks, options);
  return ThreadWorld::make({.world_size = kRanks, .communicator = options});
}

std::optional<std::uint8_t> device_of(std::size_t rank) {
  if (rank == 1) return 0;
  if (rank == 2) return 1;
  return std::nullopt;
}

using Call = std::function<void(Communicator&, Values)>;

// Runs `call` on all ranks. Returns the values of each rank afterwards. `mixes`: ranks 1 and 2 have
// their values on a device. `world`: borrowed.
template <class T>
std::vector<std::vector<T>> values_after(FakeDevice& fake, std::vector<Communicator>& world,
                                         bool mixes, std::size_t count, const Call& call) {
  std::vector<std::vector<T>> after(world.size());
  testing::on_every_rank(world, [&](Communicator& comm) {
    Placed<T> own(fake, mixes ? device_of(comm.rank()) : std::nullopt,
                  contribution_of<T>(comm.rank(), count));
    call(comm, own.values());
    after[comm.rank()] = own.now();
  });
  return after;
}

template <class T>
void expect_same(FakeDevice& fake, std::vector<Communicator>& world, std::size_t count,
                 const Call& call) {
  const auto host = values_after<T>(fake, world, false, count, call);
  const auto mixed = values_after<T>(fake, world, true, count, call);
  for (std::size_t rank = 0; rank < host.size(); ++rank) {
    ASSERT_EQ(host[rank].size(), mixed[rank].size());
    const std::size_t bytes = host[rank].size() * sizeof(T);
    EXPECT_TRUE(bytes == 0 || std::memcmp(host[rank].data(), mixed[rank].data(), bytes) == 0)
        << "rank " << rank << ", " << count << " values";
  }
}

class MixedMemory : public ::testing::TestWithParam<Over> {
 protected:
  std::vector<Communicator> world(const std::string& plan = "auto") const {
    return world_over(GetParam(), plan);
  }
  FakeDevice fake_;
};

TEST_P(MixedMemory, AllReducesToTheBitsOfTheHost) {
  for (const char* plan : {"auto", "ring"}) {
    auto ranks = world(plan);
    for (const std::size_t count : {0, 1, 12, 13, 1000, 70'003}) {
      expect_same<float>(fake_, ranks, count, [](Communicator& comm, Values values) {
        comm.all_reduce(values, ReduceOp::kMean);
      });
    }
  }
  EXPECT_EQ(fake_.crime(), "");
}

TEST_P(MixedMemory, ReducesEveryTypeAndAPreScaledSum) {
  auto ranks = world();
  const auto compare = [&]<class T>(T) {
    for (const std::size_t count : {3, 40'001}) {
      expect_same<T>(fake_, ranks, count, [](Communicator& comm, Values values) {
        const double factor = 0.5 + static_cast<double>(comm.rank());
        comm.all_reduce(values, Reduction::pre_scaled_sum(factor));
        comm.all_reduce(values, ReduceOp::kMax);
      });
    }
  };
  compare(0.0F);
  compare(0.0);
  compare(Float16());
  compare(Bfloat16());
  expect_same<std::int32_t>(fake_, ranks, 5000, [](Communicator& comm, Values values) {
    comm.all_reduce(values, ReduceOp::kSum);
  });
}

TEST_P(MixedMemory, CodesToTheBitsOfTheHost) {
  auto ranks = world();
  for (const Codec codec : {Codec::kBfloat16, Codec::kInt8, Codec::kInt8Stochastic, Codec::kTopK}) {
    // The number of the random draws must not depend on earlier calls.
    const auto call = [&](Communicator& comm, Values values) {
      comm.all_reduce(values, Reduction(ReduceOp::kMean).by(codec).drawn_by(7));
    };
    expect_same<float>(fake_, ranks, 40'007, call);
  }
}

TEST_P(MixedMemory, RunsEveryOtherCollective) {
  auto ranks = world();
  const auto compare = [&](const Call& call) {
    for (const std::size_t count : {8, 40'000}) expect_same<float>(fake_, ranks, count, call);
  };
  for (const std::size_t root : {0, 1}) {
    compare([=](Communicator& comm, Values values) { comm.broadcast(values, root); });
    compare([=](Communicator& comm, Values values) {
      comm.reduce(values, root, ReduceOp::kMean);
      comm.broadcast(values, root);  // Only the root's values are specified.
    });
  }
  compare([](Communicator& comm, Values values) { comm.all_gather(values); });
  compare([](Communicator& comm, Values values) { comm.all_to_all(values); });
  compare([](Communicator& comm, Values values) {
    if (comm.rank() == 1) comm.send(values, 3);
    if (comm.rank() == 3) comm.receive(values, 1);
    if (comm.rank() == 0) comm.send(values, 2);
    if (comm.rank() == 2) comm.receive(values, 0);
  });
}

// The groups have one rank with a device each.
TEST_P(MixedMemory, RunsInGroupsOfASplitWorld) {
  auto ranks = world();
  for (const std::size_t count : {5, 30'000}) {
    expect_same<float>(fake_, ranks, count, [](Communicator& comm, Values values) {
      Communicator group = comm.split(static_cast<int>(comm.rank() / 2));
      group.all_reduce(values, ReduceOp::kSum);
    });
  }
}

TEST_P(MixedMemory, KeepsTheOrderOfCallsOnBothMemories) {
  constexpr std::size_t kCount = 30'000;
  auto ranks = world();
  testing::on_every_rank(ranks, [&](Communicator& comm) {
    Placed<float> own(fake_, device_of(comm.rank()), std::vector<float>(kCount, 1.0F));
    Placed<float> few(fake_, device_of(comm.rank()), std::vector<float>(2, 1.0F));
    std::vector<float> here(kCount, 2.0F);
    std::vector<float> few_here(2, 2.0F);
    for (int round = 0; round < 5; ++round) {
      std::vector<Request> requests;
      requests.push_back(comm.all_reduce_async(here, ReduceOp::kMean));
      requests.push_back(comm.all_reduce_async(own.values(), ReduceOp::kSum));
      requests.push_back(comm.all_reduce_async(few.values(), ReduceOp::kSum));
      requests.push_back(comm.all_reduce_async(few_here, ReduceOp::kMean));
      requests.push_back(comm.all_reduce_async(own.values(), ReduceOp::kMean));
      wait_all(requests);
    }
    EXPECT_EQ(here, std::vector<float>(kCount, 2.0F));
    EXPECT_EQ(few_here, std::vector<float>(2, 2.0F));
    EXPECT_EQ(own.now(), std::vector<float>(kCount, 1024.0F));
    EXPECT_EQ(few.now(), std::vector<float>(2, 1024.0F));
  });
  EXPECT_EQ(fake_.crime(), "");
}

INSTANTIATE_TEST_SUITE_P(Worlds, MixedMemory,
                         ::testing::Values(Over::kSharedMemory, Over::kSockets, Over::kBoth),
                         name_of);

// An input on a device that is not the output is only read.
TEST(DeviceSharedRanks, LeaveTheInputAsItIs) {
  FakeDevice fake;
  auto world = world_over(Over::kSharedMemory, "auto");
  testing::on_every_rank(world, [&](Communicator& comm) {
    for (const std::size_t count : {4, 20'000}) {
      const auto own = contribution_of<float>(comm.rank(), count);
      Placed<float> input(fake, device_of(comm.rank()), own);
      Placed<float> output(fake, device_of(comm.rank()), std::vector<float>(count));
      comm.all_reduce(ConstValues(input.values()), output.values(), ReduceOp::kSum);
      Placed<float> in_place(fake, device_of(comm.rank()), own);
      comm.all_reduce(in_place.values(), ReduceOp::kSum);
      EXPECT_EQ(input.now(), own);
      EXPECT_EQ(output.now(), in_place.now());
    }
  });
}

// Where the system refuses to pin a rank's arena, the host copies.
TEST(DeviceSharedRanks, CopyThroughOtherMemoryWhereTheArenaCannotBePinned) {
  FakeDevice fake;
  auto world = world_over(Over::kSharedMemory, "auto");
  fake.fail(FakeCall::kPin);
  for (int call = 0; call < 3; ++call) {  // The first one does not pin.
    expect_same<float>(fake, world, 200'003, [](Communicator& comm, Values values) {
      comm.all_reduce(values, ReduceOp::kMean);
    });
  }
  EXPECT_EQ(fake.count(FakeCall::kPin), 2U);  // Of two ranks: the one that is refused asks once.
  EXPECT_EQ(fake.crime(), "");
}

TEST(DeviceSharedRanks, GiveBackWhatTheyTook) {
  FakeDevice fake;
  {
    auto world = world_over(Over::kSharedMemory, "auto");
    expect_same<float>(fake, world, 30'000, [](Communicator& comm, Values values) {
      comm.all_reduce(values, ReduceOp::kMean);
    });
    EXPECT_GT(fake.open_things(), 0U);
  }
  EXPECT_EQ(fake.open_things(), 0U);
}

std::optional<std::uint8_t> only_rank_1(std::size_t rank) {
  return rank == 1 ? device_of(1) : std::nullopt;
}

constexpr const char* kOfRank1 =
    "all_reduce #2 of 30000 float32 (sum, shared-memory) in the memory of device 0: device 0";

// The copy there, the copy back, and the question whether a copy is done.
TEST(DeviceSharedRanks, EndWhenADeviceFailsInTheMiddle) {
  FakeDevice fake;
  for (const auto& failure : {std::pair{FakeCall::kCopy, 0}, std::pair{FakeCall::kCopy, 1},
                              std::pair{FakeCall::kTest, 0}}) {
    auto world = world_over(Over::kSharedMemory, "auto");
    testing::expect_errors(
        world, fake, only_rank_1, 30'000,
        [&] { fake.fail(failure.first, static_cast<std::size_t>(failure.second)); },
        ErrorCode::kSystem, kOfRank1);
  }
  EXPECT_EQ(fake.crime(), "");
}

TEST(DeviceSharedRanks, EndWhenADeviceFaults) {
  FakeDevice fake;
  auto world = world_over(Over::kSharedMemory, "auto");
  testing::expect_errors(
      world, fake, only_rank_1, 30'000, [&] { fake.fault(); }, ErrorCode::kSystem, kOfRank1);
}

// The other ranks come later, so that rank 1 is the first to give up. It copies few values at once,
// before it knows where those of others are.
TEST(DeviceSharedRanks, EndWhenACopyNeverEnds) {
  FakeDevice fake;
  auto world = world_over(Over::kSharedMemory, "auto", std::chrono::milliseconds(300));
  std::atomic<bool> has_given_up{false};
  testing::on_every_rank(world, [&](Communicator& comm) {
    Placed<float> own(fake, only_rank_1(comm.rank()), std::vector<float>(10, 1.0F));
    if (comm.rank() == 1) fake.hold();
    while (comm.rank() != 1 && !has_given_up) std::this_thread::yield();
    const auto error = error_of([&] { comm.all_reduce(own.values(), ReduceOp::kSum); });
    has_given_up = true;
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), comm.rank() == 1 ? ErrorCode::kTimeout : ErrorCode::kAborted);
    EXPECT_EQ(error->blamed_rank(), 1U);
    EXPECT_NE(std::string(error->what())
                  .find("rank 1 (" + comm.rank_table().rows[1].host +
                        "): all_reduce #1 of 10 float32 (sum, shared-memory) in the memory of "
                        "device 0: device 0 did not do its part within 0.3 s"),
              std::string::npos)
        << error->what();
  });
  fake.release();
}

TEST(DeviceSharedRanks, EndWhenTheArenaIsTooSmall) {
  FakeDevice fake;
  auto world = ThreadWorld::make({.world_size = kRanks, .arena_bytes = std::size_t{1} << 20});
  testing::expect_errors(
      world, fake, only_rank_1, 1'000'000, [] {}, ErrorCode::kNoMemory,
      "rank 1: no 4000000 contiguous bytes are left in this rank's shared arena of 1048576 bytes, "
      "and values on devices need them there: give back memory of Communicator::allocate(), or "
      "pass fewer values in a call");
}

}  // namespace
}  // namespace rota
