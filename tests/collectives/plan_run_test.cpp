// When a plan has run, every rank has the promised values, although the network misbehaves. Method:
// all ranks run in this thread. A seed picks the delays, the short writes and the order of turns.
// Values are small integers held in floats: their sums are exact, so rounding cannot hide a
// mistake.
#include "collectives/plan_run.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testing/promises.h"
#include "testing/reference.h"
#include "testing/sim_world.h"

namespace rota {
namespace {

using collectives::Algorithm;
using collectives::Collective;
using collectives::PlanRequest;
using testing::SimWorld;

float value_of(std::size_t rank, std::size_t index) {
  return static_cast<float>(rank + 1 + index % 7);
}

float sum_of(std::size_t world_size, std::size_t index) {
  float sum = 0;
  for (std::size_t rank = 0; rank < world_size; ++rank) sum += value_of(rank, index);
  return sum;
}

PlanRequest request_of(Collective collective, Algorithm algorithm, std::size_t count,
                       std::size_t root = 0) {
  return {{.collective = collective, .algorithm = algorithm, .count = count, .root = root}};
}

class PlanRunTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  std::size_t world_size() const { return GetParam(); }
  std::vector<std::size_t> counts() const {
    const std::size_t n = world_size();
    return {0, 1, n - 1, n, n + 1, 1009};
  }

  // Runs `request` for every count and some seeds, and passes each finished world to `check`.
  template <class Check>
  void for_all(PlanRequest request, ReduceOp op, Check check) {
    for (const std::size_t count : counts()) {
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SimWorld world({.world_size = world_size(), .seed = seed});
        world.fill(count, value_of);
        request.count = count;
        world.start_all(request, op);
        ASSERT_TRUE(world.run()) << world.replay() << ", count " << count;
        for (std::size_t rank = 0; rank < world_size(); ++rank) {
          ASSERT_FALSE(world.error(rank)) << world.replay() << ": " << world.error(rank)->what();
          check(world, rank, count);
        }
      }
    }
  }
};

TEST_P(PlanRunTest, AllReduceLeavesTheSameExactSumOnEveryRank) {
  for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kStar}) {
    for_all(request_of(Collective::kAllReduce, algorithm, 0), ReduceOp::kSum,
            [](const SimWorld& world, std::size_t rank, std::size_t count) {
              const auto values = world.values(rank);
              for (std::size_t i = 0; i < count; ++i) {
                ASSERT_EQ(values[i], sum_of(GetParam(), i))
                    << world.replay() << ", rank " << rank << ", index " << i;
              }
            });
  }
}

TEST_P(PlanRunTest, MeanIsTheSumTimesTheRoundedInverse) {
  const float factor = 1.0F / static_cast<float>(world_size());
  for_all(request_of(Collective::kAllReduce, Algorithm::kRing, 0), ReduceOp::kMean,
          [&](const SimWorld& world, std::size_t rank, std::size_t count) {
            const auto values = world.values(rank);
            for (std::size_t i = 0; i < count; ++i) {
              ASSERT_EQ(values[i], sum_of(world_size(), i) * factor) << world.replay();
            }
          });
}

TEST_P(PlanRunTest, ReduceScatterLeavesEachRankItsSlice) {
  for_all(request_of(Collective::kReduceScatter, Algorithm::kRing, 0), ReduceOp::kSum,
          [&](const SimWorld& world, std::size_t rank, std::size_t count) {
            const auto values = world.values(rank);
            const Slice own = slice_of(count, rank, world_size());
            for (std::size_t i = own.offset; i < own.offset + own.count; ++i) {
              ASSERT_EQ(values[i], sum_of(world_size(), i)) << world.replay();
            }
          });
}

TEST_P(PlanRunTest, AllGatherCollectsEveryRanksSlice) {
  for_all(request_of(Collective::kAllGather, Algorithm::kRing, 0), ReduceOp::kSum,
          [&](const SimWorld& world, std::size_t rank, std::size_t count) {
            const auto values = world.values(rank);
            for (std::size_t from = 0; from < world_size(); ++from) {
              const Slice slice = slice_of(count, from, world_size());
              for (std::size_t i = slice.offset; i < slice.offset + slice.count; ++i) {
                ASSERT_EQ(values[i], value_of(from, i)) << world.replay();
              }
            }
          });
}

TEST_P(PlanRunTest, BroadcastGivesEveryRankTheRootsValues) {
  for (std::size_t root = 0; root < world_size(); ++root) {
    for_all(request_of(Collective::kBroadcast, Algorithm::kChain, 0, root), ReduceOp::kSum,
            [&](const SimWorld& world, std::size_t rank, std::size_t count) {
              const auto values = world.values(rank);
              for (std::size_t i = 0; i < count; ++i) {
                ASSERT_EQ(values[i], value_of(root, i)) << world.replay();
              }
            });
  }
}

TEST_P(PlanRunTest, NobodyLeavesABarrierBeforeTheLastHasCome) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SimWorld world({.world_size = world_size(), .seed = seed});
    const auto request = request_of(Collective::kBarrier, Algorithm::kDissemination, 0);
    const std::size_t last = seed % world_size();
    for (std::size_t rank = 0; rank < world_size(); ++rank) {
      if (rank != last) world.start(rank, request, ReduceOp::kSum);
    }
    for (int i = 0; i < 1000; ++i) world.tick();
    for (std::size_t rank = 0; rank < world_size(); ++rank) {
      EXPECT_FALSE(world.done(rank)) << world.replay() << ", rank " << rank;
    }
    world.start(last, request, ReduceOp::kSum);
    EXPECT_TRUE(world.run()) << world.replay();
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, PlanRunTest, ::testing::Values(1, 2, 3, 4, 5, 8));

// Runs every collective by every algorithm that supports it, with every type and each of its
// reductions, in place and from an input. The results are compared with the promises element by
// element.
template <class T>
class EveryCollective : public ::testing::Test {
 protected:
  void run(const PlanRequest& request, const Reduction& reduction) {
    SimWorld world({.world_size = request.world_size, .seed = request.count + 3, .max_delay = 2});
    std::vector<PlanRequest> requests(request.world_size, request);
    for (std::size_t rank = 0; rank < request.world_size; ++rank) {
      requests[rank].rank = rank;
      const std::size_t input = testing::input_count(requests[rank]);
      const std::size_t values = testing::values_count(requests[rank]);
      const auto start = [&](std::size_t i) { return testing::value_of<T>(rank, i); };
      world.fill_buffer<T>(rank, collectives::Buffer::kInput, input, start);
      if (input > 0) {
        world.fill_buffer<T>(rank, collectives::Buffer::kValues, values,
                             [](std::size_t) { return testing::rounded<T>(99); });
      } else {
        world.fill_buffer<T>(rank, collectives::Buffer::kValues, values, start);
      }
    }
    world.start_all(request, reduction, data_type_of<T>());
    ASSERT_TRUE(world.run()) << world.replay();
    for (std::size_t rank = 0; rank < request.world_size; ++rank) {
      ASSERT_FALSE(world.error(rank)) << world.replay() << ": " << world.error(rank)->what();
      check(world, requests, rank, reduction);
    }
  }

  void check(const SimWorld& world, const std::vector<PlanRequest>& requests, std::size_t rank,
             const Reduction& reduction) {
    const auto promises = testing::promises(requests, rank);
    const auto values = world.values<T>(rank);
    for (std::size_t i = 0; i < promises.size(); ++i) {
      if (!promises[i]) continue;
      const T expected = promises[i]->rank
                             ? testing::value_of<T>(*promises[i]->rank, promises[i]->index)
                             : testing::reduced<T>(reduction, requests.size(), promises[i]->index);
      ASSERT_TRUE(values[i] == expected)
          << to_string(requests[rank].collective) << " by " << to_string(requests[rank].algorithm)
          << ", " << to_string(reduction.op()) << ", " << world.replay() << ", rank " << rank
          << ", element " << i;
    }
  }

  void run_all_reductions(PlanRequest request) {
    if (!collectives::reduces(request.collective)) return run(request, ReduceOp::kSum);
    testing::for_each_reduction<T>([&](const Reduction& reduction) { run(request, reduction); });
  }

  void run_world(std::size_t n) {
    for (int c = 1; c <= static_cast<int>(Collective::kBroadcast); ++c) {
      for (int a = 1; a <= static_cast<int>(Algorithm::kDissemination); ++a) {
        PlanRequest request{
            {.collective = static_cast<Collective>(c), .algorithm = static_cast<Algorithm>(a)},
            0,
            n};
        if (!collectives::makes(request.algorithm, request.collective)) continue;
        std::vector<std::size_t> hosts(n);
        for (std::size_t rank = 0; rank < n; ++rank) hosts[rank] = rank / 2;
        request.hosts = hosts;
        request.root = collectives::has_root(request.collective) ? n / 2 : 0;
        for (const std::size_t count : {std::size_t{0}, 3 * n, 33 * n}) {
          request.count = count;
          request.in_place = true;
          run_all_reductions(request);
          if (request.collective == Collective::kBroadcast) continue;
          request.in_place = false;
          run_all_reductions(request);
        }
      }
    }
  }
};

using Types = ::testing::Types<Float16, Bfloat16, float, double, std::int8_t, std::uint8_t,
                               std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(EveryCollective, Types);

TYPED_TEST(EveryCollective, LeavesWhatIsPromised) {
  for (const std::size_t n : {1, 2, 3, 4, 5, 8}) this->run_world(n);
}

// A rank may be lost at any moment. The collective then ends on all other ranks, with an error that
// names a lost rank. If a rank had already received everything, its collective ends with the right
// result.
TEST(PlanRunFaults, NobodyWaitsForARankThatIsLost) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const std::size_t world_size = 2 + seed % 4;
    const std::size_t victim = seed % world_size;
    SimWorld world({.world_size = world_size, .seed = seed});
    world.fill(257, value_of);
    world.start_all(request_of(Collective::kAllReduce,
                               seed % 2 == 0 ? Algorithm::kRing : Algorithm::kStar, 257));
    for (std::uint64_t tick = 0; tick < seed % 23; ++tick) world.tick();
    world.lose(victim);
    ASSERT_TRUE(world.run()) << world.replay() << ": somebody waits for ever";
    for (std::size_t rank = 0; rank < world_size; ++rank) {
      if (rank == victim || world.done(rank)) continue;
      ASSERT_TRUE(world.error(rank)) << world.replay();
      EXPECT_EQ(world.error(rank)->code(), ErrorCode::kPeerLost);
      EXPECT_TRUE(world.error(rank)->blamed_rank()) << world.replay();
    }
  }
}

TEST(PlanRunFaults, ARankThatFallsSilentIsWhomItsNeighbourWaitsFor) {
  for (std::size_t victim = 0; victim < 4; ++victim) {
    SimWorld world({.world_size = 4, .seed = victim});
    world.fill(257, value_of);
    world.start_all(request_of(Collective::kAllReduce, Algorithm::kRing, 257));
    world.silence(victim);
    EXPECT_FALSE(world.run(2000));
    // From every rank, the chain of waits leads to the victim.
    for (std::size_t rank = 0; rank < 4; ++rank) {
      std::size_t at = rank;
      for (int hops = 0; hops < 4 && at != victim; ++hops) {
        const auto wait = world.run_of(at).waiting();
        ASSERT_TRUE(wait) << "rank " << at << " waits for nobody";
        at = wait->peer;
      }
      EXPECT_EQ(at, victim);
    }
  }
}

TEST(PlanRunFaults, CallsThatDifferAreRefusedBeforeAValueIsTouched) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimWorld world({.world_size = 2, .seed = seed});
    world.fill(200, value_of);
    world.start(0, request_of(Collective::kAllReduce, Algorithm::kRing, 200), ReduceOp::kSum);
    world.start(1, request_of(Collective::kAllReduce, Algorithm::kRing, 100), ReduceOp::kSum);
    ASSERT_TRUE(world.run()) << world.replay();
    bool named = false;
    for (std::size_t rank = 0; rank < 2; ++rank) {
      ASSERT_TRUE(world.error(rank)) << world.replay();
      const std::string text = world.error(rank)->what();
      named |= world.error(rank)->code() == ErrorCode::kMismatch &&
               text.find("of 100 float32") != std::string::npos &&
               text.find("of 200 float32") != std::string::npos;
      const auto values = world.values(rank);
      for (std::size_t i = 0; i < 200; ++i) ASSERT_EQ(values[i], value_of(rank, i));
    }
    EXPECT_TRUE(named) << world.replay();
  }
}

}  // namespace
}  // namespace rota
