// Tests the order in which the samples of large data sets are visited.
#include <rota/windowed_order.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <rota/sampler.h>

#include "testing/error_of.h"

namespace rota {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Samples = std::vector<std::uint64_t>;
using Shards = std::vector<std::size_t>;

Samples order_of(WindowedOrder& order, std::size_t count, std::uint64_t epoch) {
  order.shuffle(epoch);
  Samples samples(count);
  order.copy(0, samples);
  return samples;
}

TEST(WindowedOrder, HasEachSampleOnceForEveryWindow) {
  const Shards shards = {7, 0, 1, 30, 12, 0};
  for (std::size_t window = 1; window <= 60; ++window) {
    WindowedOrder order(window, shards, 5);
    for (const std::uint64_t epoch : {1, 2}) {
      Samples samples = order_of(order, 50, epoch);
      std::ranges::sort(samples);
      for (std::uint64_t i = 0; i < 50; ++i) ASSERT_EQ(samples[i], i) << window;
    }
  }
}

// With windows of one sample, only the shards are shuffled.
TEST(WindowedOrder, VisitsShardsOneAfterAnotherInADrawnOrder) {
  WindowedOrder order(1, Shards{2, 3, 1, 2}, 1);
  std::vector<Samples> orders;
  for (std::uint64_t epoch = 1; epoch <= 4; ++epoch) {
    const Samples samples = order_of(order, 8, epoch);
    for (const Samples& shard : {Samples{0, 1}, {2, 3, 4}, {5}, {6, 7}}) {
      const auto found = std::search(samples.begin(), samples.end(), shard.begin(), shard.end());
      EXPECT_NE(found, samples.end()) << epoch;
    }
    orders.push_back(samples);
  }
  EXPECT_NE(orders[0], orders[1]);
}

// A window of 10 needs samples of at most three shards of 8, which follow one another.
TEST(WindowedOrder, NeedsOnlyTheShardsOfOneWindowAtATime) {
  const Shards shards(20, 8);
  WindowedOrder order(10, shards, 3);
  const Samples samples = order_of(order, 160, 1);
  for (std::size_t begin = 0; begin < 160; begin += 10) {
    std::set<std::uint64_t> read;
    for (std::size_t i = begin; i < begin + 10; ++i) read.insert(samples[i] / 8);
    EXPECT_LE(read.size(), 3U) << begin;
  }
  EXPECT_FALSE(std::ranges::is_sorted(std::span(samples).first(10)));
}

TEST(WindowedOrder, IsTheSameFromAnyPositionOn) {
  const Shards shards = {40, 25, 35};
  WindowedOrder whole(16, shards, 9);
  const Samples samples = order_of(whole, 100, 3);
  WindowedOrder resumed(16, shards, 9);
  resumed.shuffle(3);
  for (const std::size_t first : {99, 16, 15, 64, 0, 47}) {
    Samples some(std::min<std::size_t>(20, 100 - first));
    resumed.copy(first, some);
    EXPECT_TRUE(std::ranges::equal(some, std::span(samples).subspan(first, some.size()))) << first;
  }
}

TEST(WindowedOrder, IsAFunctionOfSeedAndEpochAlone) {
  const Shards shards = {40, 25, 35};
  WindowedOrder one(16, shards, 9);
  WindowedOrder other(16, shards, 9);
  WindowedOrder stranger(16, shards, 10);
  order_of(other, 100, 1);
  const Samples samples = order_of(one, 100, 4);
  EXPECT_EQ(samples, order_of(other, 100, 4));
  EXPECT_NE(samples, order_of(one, 100, 5));
  EXPECT_NE(samples, order_of(stranger, 100, 4));
  WindowedOrder one_window(1000, shards, 9);
  EXPECT_NE(order_of(one_window, 100, 4), order_of(one_window, 100, 5));
}

// The order belongs to the definition of a training run. A separate program in another language
// once computed it.
TEST(WindowedOrder, DrawsTheSameOrderOnEveryMachine) {
  WindowedOrder order(4, Shards{3, 2, 5}, 42);
  EXPECT_THAT(order_of(order, 10, 1), ElementsAre(3, 6, 4, 5, 9, 0, 7, 8, 1, 2));
}

TEST(WindowedSampler, DealsTheSameOrderInEveryWorld) {
  const Shards shards = {40, 25, 36};
  WindowedOrder order(16, shards, 7);
  const Samples expected = order_of(order, 101, 2);
  for (const std::size_t world_size : {1, 2, 3, 5}) {
    std::vector<ShardedSampler> ranks;
    for (std::size_t rank = 0; rank < world_size; ++rank) {
      ranks.emplace_back(SamplerOptions{.sample_count = 101,
                                        .batch_size = 20 / world_size,
                                        .rank = rank,
                                        .world_size = world_size,
                                        .seed = 7,
                                        .window = 16,
                                        .shards = shards});
      ranks.back().shuffle(2);
    }
    Samples all;
    while (all.size() < 101) {
      const std::uint64_t sample = all.size();
      for (const ShardedSampler& rank : ranks) {
        const auto batch = rank.batch_at(sample);
        all.insert(all.end(), batch.begin(), batch.end());
      }
      ASSERT_EQ(all.size() - sample, ranks[0].world_batch_count_at(sample));
    }
    EXPECT_EQ(all, expected) << world_size;
  }
}

TEST(WindowedSampler, RefusesShardsOfAnotherDataSet) {
  const auto error = testing::error_of([] {
    ShardedSampler({.sample_count = 10, .batch_size = 1, .window = 2, .shards = {4, 5}});
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error->what(), HasSubstr("the shards have 9 samples, but the data set has 10"));
  const auto none = testing::error_of([] { WindowedOrder(0, Shards{4}, 1); });
  ASSERT_TRUE(none);
  EXPECT_THAT(none->what(), HasSubstr("expected 1 or more"));
}

}  // namespace
}  // namespace rota
