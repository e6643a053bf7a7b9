// Ranks of one host whose values are all on devices read and write each other's memory, and get the
// bits of the host. What a rank frees or allocates meanwhile does no harm. Method: ranks are
// threads; their devices are fake.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collectives/shared/device_peers.h"
#include "communicator/shared_world.h"
#include "device/placed_values.h"
#include "kernels/reductions.h"
#include "testing/error_of.h"
#include "testing/fake_device.h"
#include "testing/on_every_rank.h"

namespace rota {
namespace {

using testing::contribution_of;
using testing::error_of;
using testing::FakeCall;
using testing::FakeDevice;
using testing::Placed;
using testing::values_in;

// Two ranks share a device.
std::optional<std::uint8_t> on_two_devices(std::size_t rank) { return rank % 2; }

std::vector<Communicator> world_of_devices(
    std::size_t world_size, std::chrono::milliseconds deadline = std::chrono::seconds(20)) {
  return ThreadWorld::make({.world_size = world_size, .communicator = {.deadline = deadline}});
}

// Makes a call with all values in host memory, and again with all values on devices. Compares the
// results of the ranks for which `gets` is true.
template <class T, class CallOf, class Gets>
void expect_the_bits_of_the_host(FakeDevice& fake, std::size_t world_size, std::size_t count,
                                 CallOf call, Gets gets) {
  auto world = world_of_devices(world_size);
  testing::on_every_rank(world, [&](Communicator& comm) {
    std::vector<T> here = contribution_of<T>(comm.rank(), count);
    Placed<T> there(fake, on_two_devices(comm.rank()), here);
    const Block block = comm.allocate(count * sizeof(T));
    std::ranges::copy(here, values_in<T>(block, count).begin());
    call(comm, Values(values_in<T>(block, count)));
    for (int round = 0; round < 2; ++round) {
      fake.write(there.on_device(), here);
      comm.barrier();
      call(comm, there.values());
      if (!gets(comm.rank())) continue;
      const std::vector<T> now = there.now();
      EXPECT_EQ(std::memcmp(now.data(), values_in<T>(block, count).data(), count * sizeof(T)), 0)
          << "rank " << comm.rank() << ", " << count << " values";
    }
    EXPECT_EQ(comm.staged_bytes(), 0U) << "the values went through host memory";
  });
  EXPECT_EQ(fake.crime(), "");
}

bool all_get(std::size_t) { return true; }

class DevicesOfOneHost : public ::testing::TestWithParam<std::size_t> {
 protected:
  FakeDevice fake_;
};

TEST_P(DevicesOfOneHost, AllReduce) {
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kMax}) {
    const auto call = [=](Communicator& comm, Values values) { comm.all_reduce(values, op); };
    for (const std::size_t count : {13, 1000, 70'003}) {
      expect_the_bits_of_the_host<float>(fake_, GetParam(), count, call, all_get);
      expect_the_bits_of_the_host<Bfloat16>(fake_, GetParam(), 2 * count, call, all_get);
    }
  }
}

TEST_P(DevicesOfOneHost, ReduceAndBroadcast) {
  const std::size_t last = GetParam() - 1;
  const auto reduce = [=](Communicator& comm, Values values) {
    comm.reduce(values, last, ReduceOp::kMean);
  };
  const auto broadcast = [=](Communicator& comm, Values values) { comm.broadcast(values, last); };
  for (const std::size_t count : {13, 40'001}) {
    expect_the_bits_of_the_host<float>(fake_, GetParam(), count, reduce,
                                       [=](std::size_t rank) { return rank == last; });
    expect_the_bits_of_the_host<float>(fake_, GetParam(), count, broadcast, all_get);
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, DevicesOfOneHost, ::testing::Values(2, 3, 5),
                         ::testing::PrintToStringParamName());

// Few values travel with posts, and a sum of scaled values needs the host. Both give the same bits.
TEST(SharedDevices, KeepTheOrderOfAllWays) {
  FakeDevice fake;
  auto world = world_of_devices(3);
  testing::on_every_rank(world, [&](Communicator& comm) {
    Placed<float> many(fake, on_two_devices(comm.rank()), std::vector<float>(20'000, 1.0F));
    Placed<float> few(fake, on_two_devices(comm.rank()), std::vector<float>(2, 1.0F));
    std::vector<float> here(20'000, 1.0F);
    for (int round = 0; round < 3; ++round) {
      std::vector<Request> requests;
      requests.push_back(comm.all_reduce_async(many.values(), ReduceOp::kSum));
      requests.push_back(comm.all_reduce_async(few.values(), ReduceOp::kSum));
      requests.push_back(comm.all_reduce_async(here, ReduceOp::kSum));
      requests.push_back(comm.all_reduce_async(many.values(), Reduction::pre_scaled_sum(0.5)));
      wait_all(requests);
    }
    EXPECT_EQ(many.now(), std::vector<float>(20'000, 91.125F));
    EXPECT_EQ(few.now(), std::vector<float>(2, 27.0F));
    EXPECT_EQ(here, std::vector<float>(20'000, 27.0F));
  });
  EXPECT_EQ(fake.crime(), "");
}

// In a world of more than two ranks, the values are scaled first, which needs the host.
TEST(SharedDevices, KeepAMeanOfFloat16Finite) {
  for (const std::size_t n : {2, 3}) {
    FakeDevice fake;
    auto world = world_of_devices(n);
    testing::on_every_rank(world, [&](Communicator& comm) {
      const std::vector<Float16> all(5000, Float16(60000.0F));
      Placed<Float16> own(fake, on_two_devices(comm.rank()), all);
      comm.all_reduce(own.values(), ReduceOp::kMean);
      EXPECT_EQ(own.now(), all);
      EXPECT_EQ(comm.staged_bytes() == 0, n == 2);
    });
    EXPECT_EQ(fake.crime(), "");
  }
}

TEST(SharedDevices, LeaveTheInputAsItIs) {
  FakeDevice fake;
  auto world = world_of_devices(3);
  testing::on_every_rank(world, [&](Communicator& comm) {
    const auto own = contribution_of<float>(comm.rank(), 9000);
    Placed<float> input(fake, on_two_devices(comm.rank()), own);
    Placed<float> output(fake, on_two_devices(comm.rank()), std::vector<float>(9000));
    Placed<float> in_place(fake, on_two_devices(comm.rank()), own);
    comm.all_reduce(ConstValues(input.values()), output.values(), ReduceOp::kSum);
    comm.all_reduce(in_place.values(), ReduceOp::kSum);
    EXPECT_EQ(input.now(), own);
    EXPECT_EQ(output.now(), in_place.now());
    EXPECT_EQ(comm.staged_bytes(), 0U);
  });
}

// A rank may free its values as soon as its call has ended, even if other ranks are slow.
TEST(SharedDevices, UseNoMemoryOfACallThatHasEnded) {
  FakeDevice fake;
  auto world = world_of_devices(3);
  for (int round = 0; round < 20; ++round) {
    testing::on_every_rank(world, [&](Communicator& comm) {
      Placed<float> own(fake, on_two_devices(comm.rank()), std::vector<float>(5000, 1.0F));
      comm.all_reduce(own.values(), ReduceOp::kSum);
    });
  }
  EXPECT_EQ(fake.crime(), "");
}

// What a rank has freed is closed once the rank has allocated other memory at the same addresses.
TEST(SharedDevices, NoticeAnotherAllocationAtTheSameAddress) {
  FakeDevice fake({.device_count = 3, .reuses_addresses = true});
  auto world = world_of_devices(3);
  std::size_t open_first = 0;
  for (int round = 0; round < 5; ++round) {
    std::vector<float*> addresses(3);
    testing::on_every_rank(world, [&](Communicator& comm) {
      const auto value = static_cast<float>(round + 1);
      Placed<float> own(fake, comm.rank(), std::vector<float>(5000, value));
      addresses[comm.rank()] = own.on_device().address();
      comm.all_reduce(own.values(), ReduceOp::kSum);
      EXPECT_EQ(own.now(), std::vector<float>(5000, 3 * value));
      EXPECT_EQ(comm.staged_bytes(), 0U);
    });
    static std::vector<float*> first;
    if (round == 0) {
      first = addresses;
      open_first = fake.open_things();
    }
    EXPECT_EQ(addresses, first) << "the fake device gave other addresses";
  }
  EXPECT_EQ(fake.open_things(), open_first);
  EXPECT_EQ(fake.crime(), "");
}

TEST(SharedDevices, CloseWhatTheyOpenedWhenTheGroupEnds) {
  FakeDevice fake;
  {
    auto world = world_of_devices(3);
    testing::on_every_rank(world, [&](Communicator& comm) {
      Placed<float> own(fake, on_two_devices(comm.rank()), std::vector<float>(5000, 1.0F));
      comm.all_reduce(own.values(), ReduceOp::kSum);
    });
    EXPECT_GT(fake.open_things(), 0U);
  }
  EXPECT_EQ(fake.open_things(), 0U);
}

// If one rank is refused once, all ranks use host memory from then on.
TEST(SharedDevices, GoThroughHostMemoryWhereOneIsRefused) {
  for (const FakeCall refused : {FakeCall::kShare, FakeCall::kOpen}) {
    FakeDevice fake;
    auto world = world_of_devices(3);
    fake.fail(refused);
    testing::on_every_rank(world, [&](Communicator& comm) {
      Placed<float> own(fake, on_two_devices(comm.rank()), std::vector<float>(5000, 1.0F));
      std::uint64_t staged = 0;
      for (int round = 0; round < 3; ++round) {
        comm.all_reduce(own.values(), ReduceOp::kSum);
        const bool all_know = refused == FakeCall::kOpen || round == 0;
        EXPECT_TRUE(!all_know || comm.staged_bytes() > staged);
        staged = comm.staged_bytes();
      }
      EXPECT_GT(staged, 0U);
      EXPECT_EQ(own.now(), std::vector<float>(5000, 27.0F));
    });
    EXPECT_EQ(fake.crime(), "");
  }
}

// With --verbose, a rank says why, once. It does not ask again for the same allocation.
TEST(SharedDevices, SayWhatWasRefused) {
  FakeDevice fake;
  transport::SharedPage page{};
  std::vector<std::byte> arena(4096);
  transport::SharedMemory shared;
  shared.ranks = {{&page, arena}};
  shared.allocate = [&](std::size_t bytes) {
    return Block(std::span(arena).first(bytes), nullptr);
  };
  collectives::Flags flags(shared);
  collectives::DevicePeers peers(flags, true);
  Placed<float> own(fake, 0, std::vector<float>(100));
  collectives::PlannedCollective planned{.reducer = {kernels::reference<kernels::Reductions>(),
                                                     DataType::kFloat32, ReduceOp::kSum, 1}};
  planned.call = {.memory = MemoryKind::of_device(0), .count = 100};
  const collectives::Operation operation{.planned = &planned, .buffers = {own.values().data()}};
  fake.fail(FakeCall::kShare, 1);
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(peers.offer(operation));
  EXPECT_FALSE(peers.offer(operation));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "rota: rank 0 cannot share the memory of device 0 (invalid argument, CUDA error 801): "
            "values on devices go through host memory\n");
}

// Ranks show their allocations in their arenas. The program of rank 1 has filled its own.
TEST(SharedDevices, SayThatTheArenaHasNoRoomLeft) {
  FakeDevice fake;
  auto world = ThreadWorld::make({.world_size = 3,
                                  .arena_bytes = std::size_t{1} << 20,
                                  .communicator = {.deadline = std::chrono::seconds(20)}});
  testing::on_every_rank(world, [&](Communicator& comm) {
    Placed<float> own(fake, on_two_devices(comm.rank()), std::vector<float>(5000, 1.0F));
    std::vector<Block> filling;
    while (comm.rank() == 1 && !error_of([&] { filling.push_back(comm.allocate(4096)); })) {
    }
    const auto error = error_of([&] { comm.all_reduce(own.values(), ReduceOp::kSum); });
    ASSERT_TRUE(error);
    const std::string text = error->what();
    EXPECT_EQ(error->code(), comm.rank() == 1 ? ErrorCode::kNoMemory : ErrorCode::kAborted);
    EXPECT_EQ(error->blamed_rank().value_or(1), 1U);
    EXPECT_EQ(text.rfind("rank 1", 0), 0U) << text;
    EXPECT_NE(text.find(" contiguous bytes are left in this rank's shared arena of 1048576 bytes, "
                        "and values on devices need them there: give back memory of "
                        "Communicator::allocate(), or pass fewer values in a call"),
              std::string::npos)
        << text;
  });
}

TEST(SharedDevices, FindCallsThatDoNotMatch) {
  const auto expect_mismatch = [](auto call) {
    FakeDevice fake;
    auto world = world_of_devices(3);
    testing::on_every_rank(world, [&](Communicator& comm) {
      Placed<float> own(fake, on_two_devices(comm.rank()), std::vector<float>(9000, 1.0F));
      const auto error = error_of([&] { call(comm, own.values()); });
      ASSERT_TRUE(error) << "rank " << comm.rank();
      EXPECT_EQ(error->code(), ErrorCode::kMismatch) << error->what();
    });
  };
  expect_mismatch([](Communicator& comm, Values values) {
    comm.all_reduce(values, comm.rank() == 1 ? ReduceOp::kMax : ReduceOp::kSum);
  });
  expect_mismatch([](Communicator& comm, Values values) {
    if (comm.rank() == 1) return comm.broadcast(values, 0);
    comm.all_reduce(values, ReduceOp::kSum);
  });
  // Rank 1 waits for a message, and sends none.
  expect_mismatch([](Communicator& comm, Values values) {
    if (comm.rank() == 1) return comm.scatter(std::span<const float>(), values, 0);
    comm.all_reduce(values, ReduceOp::kSum);
  });
}

// Returns values of each rank that outlive its failure.
std::vector<std::unique_ptr<Placed<float>>> kept_values(FakeDevice& fake,
                                                        std::vector<Communicator>& world) {
  std::vector<std::unique_ptr<Placed<float>>> kept(world.size());
  testing::on_every_rank(world, [&](Communicator& comm) {
    kept[comm.rank()] = std::make_unique<Placed<float>>(fake, on_two_devices(comm.rank()),
                                                        std::vector<float>(5000, 1.0F));
    comm.barrier();
  });
  return kept;
}

TEST(SharedDevices, EndWhenAKernelFails) {
  FakeDevice fake;
  auto world = world_of_devices(3);
  const auto kept = kept_values(fake, world);
  fake.fail(FakeCall::kKernel);
  testing::on_every_rank(world, [&](Communicator& comm) {
    const auto error =
        error_of([&] { comm.all_reduce(kept[comm.rank()]->values(), ReduceOp::kSum); });
    ASSERT_TRUE(error);
    const std::string text = error->what();
    EXPECT_NE(text.find("the reduction of a share failed"), std::string::npos) << text;
    EXPECT_EQ(text.rfind("rank ", 0), 0U) << text;
  });
  EXPECT_EQ(fake.crime(), "");
}

// Any rank may be the first to give up.
TEST(SharedDevices, EndWhenADeviceStandsStill) {
  FakeDevice fake;
  auto world = world_of_devices(3, std::chrono::milliseconds(300));
  const auto kept = kept_values(fake, world);
  fake.hold();
  testing::on_every_rank(world, [&](Communicator& comm) {
    const auto error =
        error_of([&] { comm.all_reduce(kept[comm.rank()]->values(), ReduceOp::kSum); });
    ASSERT_TRUE(error);
    const std::string text = error->what();
    EXPECT_NE(
        text.find(" did not do its part within 0.3 s; a device of another rank may still use the "
                  "buffers of calls that failed: keep them until the process ends"),
        std::string::npos)
        << text;
  });
  fake.release();
}

// A peer that is gone has shown its values, or has not.
TEST(SharedDevices, EndWhenAPeerDies) {
  for (const bool has_shown : {false, true}) {
    FakeDevice fake;
    auto world = world_of_devices(3);
    const auto kept = kept_values(fake, world);
    fake.hold();
    testing::on_every_rank(world, [&](Communicator& comm) {
      Request request;
      if (comm.rank() != 1 || has_shown) {
        request = comm.all_reduce_async(kept[comm.rank()]->values(), ReduceOp::kSum);
      }
      if (comm.rank() == 1) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        comm.abort("it gives up");
        return;
      }
      const auto error = error_of([&] { request.wait(); });
      ASSERT_TRUE(error);
      EXPECT_EQ(error->code(), ErrorCode::kAborted) << error->what();
      EXPECT_EQ(error->blamed_rank(), 1U);
    });
    fake.release();
    EXPECT_EQ(fake.crime(), "");
  }
}

}  // namespace
}  // namespace rota
