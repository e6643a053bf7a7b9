// Tests reduces and broadcasts through shared memory. Method: ranks are threads, over the real
// shared-memory transport.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <thread>
#include <tuple>
#include <vector>

#include "communicator/shared_world.h"
#include "testing/on_every_rank.h"

namespace rota {
namespace {

using testing::contribution_of;
using testing::kSharedCounts;
using testing::on_every_rank;
using testing::shared_world;
using testing::values_in;

std::vector<float> summed_along_a_chain(std::size_t world_size, std::size_t count,
                                        std::size_t root) {
  std::vector<float> sum = contribution_of<float>((root + 1) % world_size, count);
  for (std::size_t hop = 2; hop <= world_size; ++hop) {
    const auto term = contribution_of<float>((root + hop) % world_size, count);
    for (std::size_t i = 0; i < count; ++i) sum[i] += term[i];
  }
  return sum;
}

class RootedSharedCollectiveTest
    : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  static std::size_t n() { return std::get<0>(GetParam()); }
  static std::size_t count() { return std::get<1>(GetParam()); }
};

// Tests each root, with values in shared memory and in private memory.
TEST_P(RootedSharedCollectiveTest, ReducesInTheOrderOfAChain) {
  for (std::size_t root = 0; root < n(); ++root) {
    const auto expected = summed_along_a_chain(n(), count(), root);
    auto world = shared_world(n());
    on_every_rank(world, [&](Communicator& comm) {
      const bool is_root = comm.rank() == root;
      const auto own = contribution_of<float>(comm.rank(), count());
      const Block block = comm.allocate(std::max<std::size_t>(1, count() * sizeof(float)));
      const std::span<float> shared = values_in<float>(block, count());
      auto other = own;
      for (const std::span<float> values : {shared, std::span(other)}) {
        std::vector<float> output(is_root ? count() : 0);
        std::ranges::copy(own, values.begin());
        comm.reduce(std::span<const float>(values), std::span(output), root, ReduceOp::kSum);
        EXPECT_TRUE(std::ranges::equal(values, own)) << "the input was written to";
        EXPECT_EQ(output, is_root ? expected : output) << "root " << root;
        comm.reduce(values, root, ReduceOp::kSum);
        EXPECT_TRUE(!is_root || std::ranges::equal(values, expected)) << "root " << root;
      }
    });
  }
}

TEST_P(RootedSharedCollectiveTest, BroadcastsWhatTheRootHas) {
  auto world = shared_world(n());
  on_every_rank(world, [&](Communicator& comm) {
    const Block block = comm.allocate(std::max<std::size_t>(1, count() * sizeof(float)));
    const std::span<float> shared = values_in<float>(block, count());
    std::vector<float> other(count());
    for (std::size_t root = 0; root < n(); ++root) {
      const auto expected = contribution_of<float>(root, count());
      for (const bool mixed : {false, true}) {  // In mixed trials only rank 1 has private memory.
        const auto values = mixed && comm.rank() == 1 ? std::span(other) : shared;
        std::ranges::copy(contribution_of<float>(comm.rank(), count()), values.begin());
        comm.broadcast(values, root);
        EXPECT_TRUE(std::ranges::equal(values, expected)) << "root " << root;
      }
    }
  });
}

// Tests a mean, and a sum with a factor for each rank. In mixed trials only rank 1 has private
// memory.
TEST_P(RootedSharedCollectiveTest, ReducesByWhatEachRankIsMultipliedBy) {
  const auto reduction_of = [](std::size_t rank, bool is_mean) {
    return is_mean ? Reduction(ReduceOp::kMean)
                   : Reduction::pre_scaled_sum(static_cast<double>(rank + 1));
  };
  auto world = shared_world(n());
  on_every_rank(world, [&](Communicator& comm) {
    const Block block = comm.allocate(std::max<std::size_t>(1, count() * sizeof(float)));
    std::vector<float> own(count());
    for (const bool is_mean : {false, true}) {
      for (const bool mixed : {false, true}) {
        const auto values =
            mixed && comm.rank() == 1 ? std::span(own) : values_in<float>(block, count());
        std::ranges::fill(values, static_cast<float>(2 * comm.rank() + 2));
        comm.reduce(values, n() - 1, reduction_of(comm.rank(), is_mean));
        if (comm.rank() + 1 < n()) continue;
        const std::size_t sum = n() * (n() + 1);  // The sum of 2, 4, …, or of 2, 8, 18, …
        const auto expected = static_cast<float>(is_mean ? n() + 1 : sum * (2 * n() + 1) / 3);
        EXPECT_EQ(std::ranges::count(values, expected), std::ssize(values)) << is_mean << mixed;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, RootedSharedCollectiveTest,
                         ::testing::Combine(::testing::Values(2, 3, 5),
                                            ::testing::ValuesIn(kSharedCounts)));

// The calls have different roots, with and without an input. The test polls the requests until they
// are done.
TEST(RootedSharedCollective, HasReducesAndBroadcastsUnderWayAtOnce) {
  for (const std::size_t n : {2, 3}) {
    auto world = shared_world(n);
    on_every_rank(world, [&](Communicator& comm) {
      constexpr std::size_t kCount = 5000;
      constexpr std::size_t kCalls = 24;
      const Block block = comm.allocate(2 * kCalls * kCount * sizeof(float));
      const auto values = values_in<float>(block, kCalls * kCount);
      const Block results = comm.allocate(kCalls * kCount * sizeof(float));
      const auto outputs = values_in<float>(results, kCalls * kCount);
      std::vector<Request> requests;
      for (std::size_t i = 0; i < kCalls; ++i) {
        const auto own = values.subspan(i * kCount, kCount);
        const std::size_t root = i % n;
        std::ranges::fill(own, static_cast<float>(i + comm.rank()));
        const auto output =
            comm.rank() == root ? outputs.subspan(i * kCount, kCount) : std::span<float>();
        if (i % 3 == 0) requests.push_back(comm.broadcast_async(own, root));
        if (i % 3 == 1) requests.push_back(comm.reduce_async(own, root, ReduceOp::kSum));
        if (i % 3 == 2) {
          requests.push_back(
              comm.reduce_async(std::span<const float>(own), output, root, ReduceOp::kSum));
        }
      }
      for (Request& request : requests) {
        while (!request.test()) std::this_thread::yield();
      }
      wait_all(requests);
      for (std::size_t i = 0; i < kCalls; ++i) {
        const std::size_t root = i % n;
        const bool is_broadcast = i % 3 == 0;
        if (!is_broadcast && comm.rank() != root) continue;
        const auto& found = i % 3 == 2 ? outputs : values;
        const std::size_t expected = is_broadcast ? i + root : i * n + n * (n - 1) / 2;
        EXPECT_EQ(
            std::ranges::count(found.subspan(i * kCount, kCount), static_cast<float>(expected)),
            std::ptrdiff_t{kCount})
            << "call " << i;
      }
    });
  }
}

}  // namespace
}  // namespace rota
