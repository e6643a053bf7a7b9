// What an all-reduce sends to other ranks, and what it copies on the way, counted in bytes.
// Method: ranks are threads, over shared memory and over TCP. S bytes are cut into n equal chunks
// of whole pages, so the formulas of docs/memory.md are exact on every rank.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "communicator/thread_world.h"
#include "testing/mixed_world.h"
#include "testing/on_every_rank.h"
#include "testing/tcp_world.h"

namespace rota {
namespace {

struct Traffic {
  std::uint64_t sent = 0;
  std::uint64_t staged = 0;
  std::size_t rank = 0;
};

class TrafficTest : public ::testing::TestWithParam<std::tuple<std::size_t, std::string>> {
 protected:
  static constexpr int kRounds = 3;

  static std::size_t n() { return std::get<0>(GetParam()); }
  static std::size_t count() {
    return n() * 1024 * 27;
  }  // A chunk of each rank has 27 pages of 1024 floats.
  static std::uint64_t bytes() { return count() * sizeof(float); }

  static std::vector<Communicator> make_world(const std::string& transport) {
    CommunicatorOptions options;
    options.deadline = std::chrono::seconds(20);
    options.plan = std::get<1>(GetParam());
    if (transport == "tcp") return testing::tcp_world_of(n(), options);
    if (transport == "shm+tcp") return testing::mixed_world_of(n(), options);
    return ThreadWorld::make({.world_size = n(), .communicator = options});
  }

  static void all_reduce(Communicator& comm, std::span<float> values, bool blocks) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(comm.rank() + i % 5);
    }
    if (blocks) {
      comm.all_reduce(values, ReduceOp::kSum);
    } else {
      comm.all_reduce_async(values, ReduceOp::kSum).wait();
    }
    const auto ranks = static_cast<float>(comm.world_size());
    ASSERT_EQ(values[3], ranks * 3 + ranks * (ranks - 1) / 2);
  }

  // Calls `expect` on every rank with the traffic of one all-reduce whose plan is cached.
  template <class Expect>
  static void count_traffic(const std::string& transport, bool is_shared, Expect expect) {
    auto world = make_world(transport);
    testing::on_every_rank(world, [&](Communicator& comm) {
      std::vector<float> own(is_shared ? 0 : count());
      const Block block = comm.allocate(is_shared ? bytes() : 64);
      const std::span shared(reinterpret_cast<float*>(block.bytes().data()), count());
      const std::span<float> values = is_shared ? shared : std::span<float>(own);
      all_reduce(comm, values, true);
      for (int round = 0; round < kRounds; ++round) {
        const Traffic before{.sent = comm.sent_bytes(), .staged = comm.staged_bytes()};
        all_reduce(comm, values, round % 2 == 0);
        expect(Traffic{.sent = comm.sent_bytes() - before.sent,
                       .staged = comm.staged_bytes() - before.staged,
                       .rank = comm.rank()});
      }
    });
  }

  static std::uint64_t once_round() { return (n() - 1) * bytes() / n(); }
};

TEST_P(TrafficTest, IsTwiceRoundTheRingAndNoCopyOfMemoryThatIsShared) {
  count_traffic("shm", true, [](const Traffic& traffic) {
    EXPECT_EQ(traffic.sent, 2 * once_round());
    EXPECT_EQ(traffic.staged, 0U);
  });
}

TEST_P(TrafficTest, IsACopyOfWhatLeavesMemoryThatIsNotShared) {
  count_traffic("shm", false, [](const Traffic& traffic) {
    EXPECT_EQ(traffic.sent, 2 * once_round());
    EXPECT_EQ(traffic.staged, 2 * once_round());
  });
}

// Arriving values that are added pass through the slots, the receive buffers of the connections.
// All other values land at their final place. In the direct plan, the first of several chunks that
// are added also lands at its final place.
TEST_P(TrafficTest, PassesThroughSlotsOverTcpOnlyToBeAdded) {
  const bool first_lands = std::get<1>(GetParam()) == "direct" && n() > 2;
  const std::uint64_t added = once_round() - (first_lands ? bytes() / n() : 0);
  for (const bool is_from_allocate : {true, false}) {
    count_traffic("tcp", is_from_allocate, [&](const Traffic& traffic) {
      EXPECT_EQ(traffic.sent, 2 * once_round());
      EXPECT_EQ(traffic.staged, added);
    });
  }
}

// Between two ranks, the traffic is the same as in a world that has only the transport of these two
// ranks. Domains are ranks 0-1, 2-3 and so on.
class MixedTrafficTest : public TrafficTest {};

TEST_P(MixedTrafficTest, IsThatOfEachNeighbourWhereSomeShareMemory) {
  const auto are_local = [](std::size_t a, std::size_t b) { return a / 2 == b / 2; };
  for (const bool is_shared : {true, false}) {
    count_traffic("shm+tcp", is_shared, [&](const Traffic& traffic) {
      const bool sends_to_local = are_local(traffic.rank, (traffic.rank + 1) % n());
      const bool receives_from_local = are_local(traffic.rank, (traffic.rank + n() - 1) % n());
      EXPECT_EQ(traffic.sent, 2 * once_round());
      EXPECT_EQ(traffic.staged, (sends_to_local && !is_shared ? 2 * once_round() : 0) +
                                    (receives_from_local ? 0 : once_round()));
    });
  }
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<std::size_t, std::string>>& tested) {
  return std::get<1>(tested.param) + "_" + std::to_string(std::get<0>(tested.param));
}

INSTANTIATE_TEST_SUITE_P(Worlds, TrafficTest,
                         ::testing::Combine(::testing::Values(2, 3, 4, 5),
                                            ::testing::Values("ring", "direct")),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Worlds, MixedTrafficTest,
                         ::testing::Combine(::testing::Values(3, 4, 5), ::testing::Values("ring")),
                         name_of);

TEST(Traffic, OfNobodyElseIsNothing) {
  Communicator alone{CommunicatorOptions{}};
  std::vector<float> values(1000);
  alone.all_reduce(values, ReduceOp::kSum);
  EXPECT_EQ(alone.sent_bytes(), 0U);
  EXPECT_EQ(alone.staged_bytes(), 0U);
}

}  // namespace
}  // namespace rota
