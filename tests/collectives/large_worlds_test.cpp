// Plans of worlds as large as a job can be give every rank the same mean, with the order of
// additions that docs/reproducibility.md promises. Method: all ranks run in this thread, over a
// simulated network. Most values are fractions that no float holds, so another order of additions
// gives other bits. The expected means are computed from the terms alone, without a plan.
#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <vector>

#include <rota/slice.h>

#include "base/world_size.h"
#include "testing/sim_world.h"

namespace rota {
namespace {

using collectives::Algorithm;
using collectives::Collective;
using collectives::PlanRequest;
using testing::SimWorld;
using Terms = std::vector<float>;  // The values of one element; index = rank.

constexpr std::size_t kAwkwardWorld = 3001;  // Not a power of two.
constexpr std::size_t kFewElements = 61;     // Three whole chunks and a short one.
constexpr std::size_t kMoreElements = 1009;

float fraction_of(std::size_t rank, std::size_t index) {
  return 1.0F / static_cast<float>(3 + index + 7 * rank);
}

// Adds the terms in the order chunk + 1, chunk + 2, …, chunk.
float sum_along_ring(const Terms& terms, std::size_t chunk) {
  float sum = terms[(chunk + 1) % terms.size()];
  for (std::size_t hop = 2; hop <= terms.size(); ++hop) sum += terms[(chunk + hop) % terms.size()];
  return sum;
}

// Adds the terms of two neighbours, then the sums of two neighbours, and so on.
float sum_of_neighbours(const Terms& terms, std::size_t) {
  Terms sums = terms;
  while (sums.size() > 1) {
    Terms next;
    for (std::size_t i = 0; i < sums.size(); i += 2) {
      next.push_back(i + 1 < sums.size() ? sums[i] + sums[i + 1] : sums[i]);
    }
    sums = next;
  }
  return sums.front();
}

// Adds terms that are half of the world apart, then sums that are a quarter of it apart, and so on.
// If the number of terms is not a power of two, the first terms are added in pairs before.
float sum_of_halves(const Terms& terms, std::size_t) {
  const std::size_t members = std::bit_floor(terms.size());
  const std::size_t pairs = terms.size() - members;
  Terms sums(members);
  for (std::size_t i = 0; i < members; ++i) {
    sums[i] = i < pairs ? terms[2 * i] + terms[2 * i + 1] : terms[i + pairs];
  }
  for (std::size_t half = members / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums.front();
}

using Sum = float (*)(const Terms&, std::size_t chunk);

std::vector<float> means_by_hand(std::size_t world_size, std::size_t count, Sum sum) {
  const float factor = 1.0F / static_cast<float>(world_size);
  std::vector<float> means(count);
  for (std::size_t chunk = 0; chunk < world_size; ++chunk) {
    const Slice elements = chunk_of(count, chunk, world_size);
    for (std::size_t i = elements.offset; i < elements.offset + elements.count; ++i) {
      Terms terms(world_size);
      for (std::size_t rank = 0; rank < world_size; ++rank) terms[rank] = fraction_of(rank, i);
      means[i] = sum(terms, chunk) * factor;
    }
  }
  return means;
}

// Runs one all-reduce in a world of `world_size` ranks. Expects the mean of `sum` on each of them,
// and wires between few of them.
void expect_means(std::size_t world_size, const PlanRequest& request, Sum sum) {
  const std::vector<float> means = means_by_hand(world_size, request.count, sum);
  SimWorld world(
      {.world_size = world_size, .seed = world_size, .max_delay = 2, .turns_in_a_tick = 100});
  world.fill(request.count, fraction_of);
  world.start_all(request, ReduceOp::kMean);
  ASSERT_TRUE(world.run()) << world.replay();
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    ASSERT_FALSE(world.error(rank)) << world.replay() << ": " << world.error(rank)->what();
    ASSERT_EQ(world.values(rank), means) << world.replay() << ", rank " << rank;
  }
  EXPECT_LE(world.wire_count(), 3 * world_size);
}

PlanRequest all_reduce_by(Algorithm algorithm, std::size_t count) {
  return {{.collective = Collective::kAllReduce, .algorithm = algorithm, .count = count}};
}

TEST(LargeWorlds, OrdersOfAdditionsCanBeToldApart) {
  const auto means = [](Sum sum) { return means_by_hand(base::kMaxWorldSize, kFewElements, sum); };
  EXPECT_NE(means(sum_along_ring), means(sum_of_neighbours));
  EXPECT_NE(means(sum_of_neighbours), means(sum_of_halves));
  EXPECT_NE(means(sum_of_halves), means(sum_along_ring));
}

TEST(LargeWorlds, ATreeLeavesTheSameMeanOnEveryRank) {
  const PlanRequest request = all_reduce_by(Algorithm::kTree, kMoreElements);
  expect_means(base::kMaxWorldSize, request, sum_of_neighbours);
  expect_means(kAwkwardWorld, request, sum_of_neighbours);
}

TEST(LargeWorlds, HalvingAndDoublingLeaveTheSameMeanOnEveryRank) {
  const PlanRequest request = all_reduce_by(Algorithm::kHalvingDoubling, kMoreElements);
  expect_means(base::kMaxWorldSize, request, sum_of_halves);
  expect_means(kAwkwardWorld, request, sum_of_halves);
}

// There are 63 hosts of 65 ranks, and a host of one rank. So few values are added up on one host.
TEST(LargeWorlds, HubsOfHostsLeaveTheSameMeanOnEveryRank) {
  constexpr std::size_t kRanksOfAHost = 65;
  std::vector<std::size_t> hosts(base::kMaxWorldSize);
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) hosts[rank] = rank / kRanksOfAHost;
  PlanRequest request = all_reduce_by(Algorithm::kByHost, kFewElements);
  request.hosts = hosts;
  expect_means(hosts.size(), request, sum_along_ring);
}

// Some ranks have two grains of elements, others one, and the last grain is short.
TEST(LargeWorlds, ARingLeavesTheSameMeanOnEveryRank) {
  constexpr std::size_t kRingWorld = 512;
  const PlanRequest request = all_reduce_by(Algorithm::kRing, kRingWorld * kChunkGrain + 5);
  expect_means(kRingWorld, request, sum_along_ring);
}

}  // namespace
}  // namespace rota
