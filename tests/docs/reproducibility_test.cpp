// Tests each cell of the table in docs/reproducibility.md that a simulated network can show. The
// values are fractions that no float holds, so another order of additions gives other bits. "Keeps"
// means that every bit is equal. If a plan does not keep the bits, at least one element differs.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "collectives/choice.h"
#include "collectives/every_request.h"
#include "communicator/thread_world.h"
#include "testing/sim_world.h"

namespace rota {
namespace {

using collectives::Algorithm;
using collectives::Buffer;
using collectives::Collective;
using collectives::PlanRequest;
using testing::SimWorld;
using Bits = std::vector<std::uint32_t>;

constexpr std::size_t kCount = 1009;
constexpr Algorithm kPlans[] = {Algorithm::kRing, Algorithm::kDirect, Algorithm::kHalvingDoubling,
                                Algorithm::kTree, Algorithm::kStar,   Algorithm::kTwoLevel,
                                Algorithm::kHub,  Algorithm::kByHost};

float value_of(std::size_t rank, std::size_t index) {
  return 1.0F / static_cast<float>(3 + index + 7 * rank);
}

Bits bits_of(const std::vector<float>& values) {
  Bits bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

struct Case {
  Algorithm plan;
  std::size_t world_size;
  std::vector<std::size_t> hosts;  // The host of each rank; empty: one host for all.
  std::uint64_t seed = 1;
  bool in_place = true;
  ReduceOp op = ReduceOp::kMean;
};

PlanRequest request_of(const Case& what, std::size_t count, std::span<const std::size_t> hosts) {
  PlanRequest request{{.collective = Collective::kAllReduce,
                       .algorithm = what.plan,
                       .count = count,
                       .in_place = what.in_place}};
  request.hosts = hosts;
  return request;
}

Algorithm chosen_for(Collective collective, std::size_t bytes,
                     const collectives::Surroundings& world) {
  return collectives::choose({.collective = collective, .type = DataType::kByte, .count = bytes},
                             world)
      .algorithm;
}

// Returns the results for the elements of `run`, reduced over all ranks with one call. Expects the
// same bits on all ranks.
template <class F>
Bits reduced(const Case& what, Slice run, F value) {
  std::vector<std::size_t> hosts = what.hosts;
  hosts.resize(what.world_size);
  SimWorld world({.world_size = what.world_size, .seed = what.seed});
  for (std::size_t rank = 0; rank < what.world_size; ++rank) {
    const auto own = [&](std::size_t i) { return value(rank, run.offset + i); };
    world.fill_buffer<float>(rank, Buffer::kValues, run.count, own);
    if (!what.in_place) world.fill_buffer<float>(rank, Buffer::kInput, run.count, own);
  }
  world.start_all(request_of(what, run.count, hosts), what.op);
  EXPECT_TRUE(world.run()) << world.replay();
  Bits bits = bits_of(world.values(0));
  for (std::size_t rank = 1; rank < what.world_size; ++rank) {
    EXPECT_EQ(bits_of(world.values(rank)), bits) << "rank " << rank << ", " << world.replay();
  }
  return bits;
}

Bits reduced(const Case& what) { return reduced(what, {0, kCount}, value_of); }

// Does the same with two calls, as if the buffer were two buckets.
Bits reduced_in_two(const Case& what) {
  constexpr std::size_t kFirst = 333;
  Bits bits = reduced(what, {0, kFirst}, value_of);
  const Bits rest = reduced(what, {kFirst, kCount - kFirst}, value_of);
  bits.insert(bits.end(), rest.begin(), rest.end());
  return bits;
}

std::string name_of(Algorithm plan) { return std::string(to_string(plan)); }

TEST(Reproducibility, EveryPlanKeepsItsBitsWhateverTheTiming) {
  for (const Algorithm plan : kPlans) {
    for (const std::size_t n : {2, 3, 5, 8}) {
      const Bits bits = reduced({plan, n, {}});
      for (std::uint64_t seed = 2; seed <= 4; ++seed) {
        EXPECT_EQ(reduced({plan, n, {}, seed}), bits) << name_of(plan) << ", world " << n;
      }
    }
  }
}

TEST(Reproducibility, EveryPlanKeepsItsBitsInPlaceOrNot) {
  for (const Algorithm plan : kPlans) {
    for (const std::size_t n : {2, 3, 5, 8}) {
      EXPECT_EQ(reduced({plan, n, {}, 1, false}), reduced({plan, n, {}}))
          << name_of(plan) << ", world " << n;
    }
  }
}

// Compares real threads, shared memory and the machine's best kernels with a simulated network and
// the scalar kernels. The test uses private memory, which is staged, and memory that peers read in
// place.
TEST(Reproducibility, EveryPlanKeepsItsBitsOverAnyTransportAndMemory) {
  constexpr std::size_t kWorld = 3;
  std::vector<Algorithm> plans(std::begin(kPlans), std::end(kPlans));
  plans.push_back(Algorithm::kShared);
  for (const Algorithm plan : plans) {
    const bool has_plans = collectives::has_plans(plan);
    const Bits simulated = reduced({has_plans ? plan : Algorithm::kRing, kWorld, {}});
    ThreadWorldOptions options;
    options.world_size = kWorld;
    options.communicator.plan = name_of(plan);
    std::vector<Communicator> world = ThreadWorld::make(options);
    std::vector<std::jthread> threads;
    threads.reserve(world.size());
    for (Communicator& communicator : world) {
      threads.emplace_back([&] {
        std::vector<float> values(kCount);
        const Block block = communicator.allocate(kCount * sizeof(float));
        const std::span shared(reinterpret_cast<float*>(block.bytes().data()), kCount);
        for (std::size_t i = 0; i < kCount; ++i) {
          values[i] = shared[i] = value_of(communicator.rank(), i);
        }
        communicator.all_reduce(values, ReduceOp::kMean);
        communicator.all_reduce(shared, ReduceOp::kMean);
        EXPECT_EQ(bits_of(values), simulated) << name_of(plan);
        EXPECT_EQ(bits_of({shared.begin(), shared.end()}), simulated) << name_of(plan);
      });
    }
  }
}

TEST(Reproducibility, RingDirectHubAndByHostGiveTheSameBits) {
  for (const std::size_t n : {2, 3, 4, 5, 8}) {
    EXPECT_EQ(reduced({Algorithm::kDirect, n, {}}), reduced({Algorithm::kRing, n, {}})) << n;
    EXPECT_EQ(reduced({Algorithm::kHub, n, {}}), reduced({Algorithm::kRing, n, {}})) << n;
    for (std::size_t kind = 0; kind < testing::kHostsKinds; ++kind) {
      const auto hosts = testing::hosts_of(kind, n);
      EXPECT_EQ(reduced({Algorithm::kByHost, n, hosts}), reduced({Algorithm::kRing, n, {}})) << n;
    }
  }
  EXPECT_NE(reduced({Algorithm::kTree, 5, {}}), reduced({Algorithm::kRing, 5, {}}));
}

// Returns the sum that one rank computes if it has all terms. As the page says, if element i is in
// chunk c, the rank adds the terms of the ranks c + 1, c + 2, …, c.
float sum_by_hand(std::size_t c, std::size_t n, std::size_t i) {
  float sum = value_of((c + 1) % n, i);
  for (std::size_t hop = 2; hop <= n; ++hop) sum += value_of((c + hop) % n, i);
  return sum;
}

std::vector<float> summed_by_hand(std::size_t n, std::size_t count, bool along_a_ring) {
  std::vector<float> sums(count);
  for (std::size_t c = 0; c < n; ++c) {
    const Slice chunk = chunk_of(count, c, n);
    for (std::size_t i = chunk.offset; i < chunk.offset + chunk.count; ++i) {
      sums[i] = sum_by_hand(along_a_ring ? c : n - 1, n, i);  // A star's sum begins with rank 0.
    }
  }
  return sums;
}

void expect_bits_by_hand(Communicator& comm, std::size_t count, bool along_a_ring) {
  const std::size_t n = comm.world_size();
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of(comm.rank(), i);
  const std::vector<float> input = values;
  comm.all_reduce(values, ReduceOp::kSum);
  const std::vector<float> by_hand = summed_by_hand(n, count, along_a_ring);
  EXPECT_EQ(bits_of(values), bits_of(by_hand)) << "world " << n << ", " << count;
  const Slice part = slice_of(count, comm.rank(), n);
  std::vector<float> own(part.count);
  comm.reduce_scatter(input, own, ReduceOp::kSum);
  for (std::size_t i = 0; i < part.count; ++i) {
    own[i] -= sum_by_hand(comm.rank(), n, part.offset + i);
  }
  EXPECT_EQ(own, std::vector<float>(part.count)) << "world " << n << ", " << count;
}

TEST(Reproducibility, ChunksEndWhereThePageSays) {
  for (const char* plan : {"auto", "ring", "direct", "hub", "by-host", "star", "shared-memory"}) {
    for (const std::size_t n : {2, 3, 5}) {
      ThreadWorldOptions options;
      options.world_size = n;
      options.communicator.plan = plan;
      std::vector<Communicator> world = ThreadWorld::make(options);
      std::vector<std::jthread> threads;
      threads.reserve(world.size());
      for (Communicator& comm : world) {
        threads.emplace_back([&comm, plan] {
          for (const std::size_t count : {1, 15, 16, 17, 31, 33, 47, 48, 1009, 30011}) {
            expect_bits_by_hand(comm, count, std::string(plan) != "star");
          }
        });
      }
    }
  }
}

TEST(Reproducibility, ChunksFollowOneAnotherAndAreAllThereIs) {
  for (const std::size_t n : {1, 2, 3, 7, 64}) {
    for (const std::size_t count : {0, 1, 15, 16, 17, 100, 1009}) {
      std::size_t end = 0;
      for (std::size_t c = 0; c < n; ++c) {
        const Slice chunk = chunk_of(count, c, n);
        EXPECT_EQ(chunk.offset, end) << count << ", " << c << " of " << n;
        EXPECT_TRUE(chunk.offset % kChunkGrain == 0 || chunk.count == 0);
        end += chunk.count;
      }
      EXPECT_EQ(end, count) << n;
    }
  }
}

TEST(Reproducibility, WhatIsChosenByDefaultGivesTheRingsBits) {
  for (const Collective collective : {Collective::kAllReduce, Collective::kReduceScatter}) {
    for (const std::size_t n : {2, 3, 8, 64}) {
      for (const std::size_t bytes : {4, 256, 16384, 65535, 65536, 1 << 30}) {
        for (const bool shares : {false, true}) {
          for (const std::size_t hosts : {std::size_t{1}, (n + 1) / 2, n}) {
            const Algorithm chosen = chosen_for(collective, bytes, {n, shares, hosts});
            EXPECT_TRUE(chosen == Algorithm::kRing || chosen == Algorithm::kDirect ||
                        chosen == Algorithm::kHub || chosen == Algorithm::kByHost ||
                        (shares && chosen == Algorithm::kShared))
                << name_of(chosen);
          }
        }
      }
    }
  }
  EXPECT_EQ(chosen_for(Collective::kReduce, 4, {3, false}), Algorithm::kChain);
  EXPECT_EQ(chosen_for(Collective::kReduce, 4, {3, true}), Algorithm::kShared);
}

TEST(Reproducibility, PlansOfWholeBuffersKeepTheirBitsInAnyBuckets) {
  for (const Algorithm plan : {Algorithm::kHalvingDoubling, Algorithm::kTree, Algorithm::kStar}) {
    for (const std::size_t n : {2, 3, 4, 5, 7, 8}) {
      EXPECT_EQ(reduced_in_two({plan, n, {}}), reduced({plan, n, {}}))
          << name_of(plan) << ", world " << n;
    }
  }
}

TEST(Reproducibility, PlansOfChunksHaveOtherBitsInOtherBuckets) {
  for (const Algorithm plan : {Algorithm::kRing, Algorithm::kDirect, Algorithm::kHub,
                               Algorithm::kByHost, Algorithm::kTwoLevel}) {
    EXPECT_EQ(reduced_in_two({plan, 2, {}}), reduced({plan, 2, {}})) << "two terms have one order";
    for (const std::size_t n : {3, 5, 8}) {
      EXPECT_NE(reduced_in_two({plan, n, {}}), reduced({plan, n, {}}))
          << name_of(plan) << ", world " << n;
    }
  }
}

TEST(Reproducibility, AllButTwoLevelKeepTheirBitsOnAnyHosts) {
  const std::vector<std::size_t> some = {0, 0, 0, 1, 1};
  const std::vector<std::size_t> others = {0, 1, 0, 1, 2};
  for (const Algorithm plan : kPlans) {
    if (plan == Algorithm::kTwoLevel) continue;
    EXPECT_EQ(reduced({plan, 5, some}), reduced({plan, 5, others})) << name_of(plan);
  }
  EXPECT_NE(reduced({Algorithm::kTwoLevel, 5, some}), reduced({Algorithm::kTwoLevel, 5, others}));
}

// The same six terms are distributed over two ranks, and over three.
TEST(Reproducibility, NoPlanKeepsItsBitsInAnotherWorld) {
  const auto sum_of = [](std::size_t first, std::size_t terms, std::size_t i) {
    float sum = 0;
    for (std::size_t term = first; term < first + terms; ++term) sum += value_of(term, i);
    return sum;
  };
  for (const Algorithm plan : kPlans) {
    Case two{plan, 2, {}};
    Case three{plan, 3, {}};
    two.op = three.op = ReduceOp::kSum;
    EXPECT_NE(reduced(two, {0, kCount},
                      [&](std::size_t r, std::size_t i) { return sum_of(3 * r, 3, i); }),
              reduced(three, {0, kCount},
                      [&](std::size_t r, std::size_t i) { return sum_of(2 * r, 2, i); }))
        << name_of(plan);
  }
}

}  // namespace
}  // namespace rota
