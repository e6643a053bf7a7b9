// Tests which samples each rank trains on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <rota/error.h>
#include <rota/sampler.h>

namespace rota {
namespace {

using Samples = std::vector<std::uint64_t>;

ShardedSampler sampler(std::size_t sample_count, std::size_t batch_size, Slice place,
                       std::uint64_t seed = 1) {
  return ShardedSampler({.sample_count = sample_count,
                         .batch_size = batch_size,
                         .rank = place.offset,
                         .world_size = place.count,
                         .seed = seed});
}

// Returns all samples that a world of `world_size` sees in an epoch: step after step, rank after
// rank.
Samples epoch_of_world(std::size_t sample_count, std::size_t batch_size, std::size_t world_size) {
  std::vector<ShardedSampler> ranks;
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    ranks.push_back(sampler(sample_count, batch_size, {rank, world_size}));
    ranks.back().shuffle(7);
  }
  Samples all;
  for (std::size_t step = 0; step < ranks[0].step_count(); ++step) {
    const std::size_t before = all.size();
    for (const ShardedSampler& rank : ranks) {
      const auto batch = rank.batch(step);
      EXPECT_LE(batch.size(), batch_size);
      all.insert(all.end(), batch.begin(), batch.end());
    }
    EXPECT_EQ(all.size() - before, ranks[0].world_batch_count(step));
  }
  return all;
}

Samples order_of(ShardedSampler& sampler, std::uint64_t epoch) {
  sampler.shuffle(epoch);
  Samples order;
  for (std::size_t step = 0; step < sampler.step_count(); ++step) {
    const auto batch = sampler.batch(step);
    order.insert(order.end(), batch.begin(), batch.end());
  }
  return order;
}

Samples counting(std::size_t count) {
  Samples samples(count);
  std::iota(samples.begin(), samples.end(), std::uint64_t{0});
  return samples;
}

TEST(Sampler, DealsOutEverySampleOnceForEveryWorldSize) {
  for (std::size_t world_size = 1; world_size <= 64; ++world_size) {
    for (const std::size_t sample_count :
         {world_size, world_size + 1, 3 * world_size - 1, std::size_t{997}, std::size_t{1000}}) {
      const std::size_t share = sample_count / world_size;
      for (const std::size_t batch_size : {std::size_t{1}, (share + 1) / 2, share}) {
        Samples all = epoch_of_world(sample_count, batch_size, world_size);
        std::sort(all.begin(), all.end());
        ASSERT_EQ(all, counting(sample_count))
            << world_size << " ranks, " << sample_count << " samples, batches of " << batch_size;
      }
    }
  }
}

TEST(Sampler, ShowsEachStepTheSameSamplesHoweverManyRanksShareIt) {
  EXPECT_EQ(epoch_of_world(4100, 400, 1), epoch_of_world(4100, 100, 4));
  EXPECT_EQ(epoch_of_world(4100, 400, 1), epoch_of_world(4100, 50, 8));
}

TEST(Sampler, DealsOutWhatIsLeftEvenly) {
  const ShardedSampler first = sampler(1002, 100, {0, 4});
  const ShardedSampler last = sampler(1002, 100, {3, 4});
  ASSERT_EQ(first.step_count(), 3u);
  EXPECT_EQ(first.world_batch_count(2), 202u);
  EXPECT_EQ(first.batch(2).size(), 51u);
  EXPECT_EQ(last.batch(2).size(), 50u);
}

TEST(Sampler, GivesARankNothingWhenTooFewAreLeft) {
  const ShardedSampler last = sampler(401, 100, {3, 4});
  ASSERT_EQ(last.step_count(), 2u);
  EXPECT_TRUE(last.batch(1).empty());
  EXPECT_EQ(last.world_batch_count(1), 1u);
}

// An epoch of 1002 samples begins on 4 ranks, goes on on 3, and ends on 8.
TEST(Sampler, GoesOnAtAnySampleInAnotherWorld) {
  Samples all;
  std::uint64_t sample = 0;
  for (const auto& [world_size, batch_size, steps] :
       {std::tuple{4, 50, 2}, {3, 37, 3}, {8, 40, 99}}) {
    const auto size = static_cast<std::size_t>(world_size);
    std::vector<ShardedSampler> ranks;
    for (std::size_t rank = 0; rank < size; ++rank) {
      ranks.push_back(sampler(1002, static_cast<std::size_t>(batch_size), {rank, size}));
      ranks.back().shuffle(7);
    }
    for (int step = 0; step < steps && sample < 1002; ++step) {
      const std::size_t before = all.size();
      for (const ShardedSampler& rank : ranks) {
        const auto batch = rank.batch_at(sample);
        all.insert(all.end(), batch.begin(), batch.end());
      }
      EXPECT_EQ(all.size() - before, ranks[0].world_batch_count_at(sample));
      sample = all.size();
    }
  }
  EXPECT_EQ(all, epoch_of_world(1002, 1002, 1));
}

TEST(Sampler, ShufflesAsAFunctionOfSeedAndEpochAlone) {
  ShardedSampler one = sampler(500, 10, {0, 1}, 3);
  ShardedSampler other = sampler(500, 10, {0, 1}, 3);
  ShardedSampler stranger = sampler(500, 10, {0, 1}, 4);
  order_of(other, 1);
  const Samples order = order_of(one, 9);
  EXPECT_EQ(order, order_of(other, 9));
  EXPECT_NE(order, order_of(one, 10));
  EXPECT_NE(order, order_of(stranger, 9));
  EXPECT_NE(order, counting(500));
}

// The order is part of the definition of a training run, so it must not change with a compiler or a
// release. A separate program in another language once computed the expected order.
TEST(Sampler, DrawsTheSameOrderOnEveryMachine) {
  ShardedSampler eight = sampler(8, 8, {0, 1}, 42);
  EXPECT_EQ(order_of(eight, 1), (Samples{6, 2, 4, 7, 3, 5, 1, 0}));
}

// Method: over many epochs each sample must come first about equally often. The bound is five
// standard deviations wide. The seed is fixed, so the test cannot fail by chance.
TEST(Sampler, GivesEverySampleTheSameChance) {
  constexpr std::size_t kSamples = 10;
  constexpr std::uint64_t kManyEpochs = 10000;
  ShardedSampler ten = sampler(kSamples, kSamples, {0, 1});
  std::vector<int> first_count(kSamples);
  for (std::uint64_t epoch = 0; epoch < kManyEpochs; ++epoch)
    ++first_count[order_of(ten, epoch)[0]];
  EXPECT_THAT(first_count,
              ::testing::Each(::testing::AllOf(::testing::Gt(850), ::testing::Lt(1150))));
}

std::string refusal_of(std::size_t sample_count, std::size_t batch_size, Slice place) {
  try {
    sampler(sample_count, batch_size, place);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "accepted";
}

// With 103 samples in steps of 40, the last step has 23.
TEST(Sampler, KnowsWhichStepHasASampleOfTheOrder) {
  const ShardedSampler sampler(
      {.sample_count = 103, .batch_size = 10, .rank = 1, .world_size = 4, .seed = 1});
  EXPECT_EQ(sampler.samples_before(0), 0u);
  EXPECT_EQ(sampler.samples_before(2), 80u);
  EXPECT_EQ(sampler.samples_before(3), 103u);
  for (const auto& [sample, step] : {std::pair{0, 0}, {39, 0}, {40, 1}, {102, 2}, {103, 3}}) {
    EXPECT_EQ(sampler.step_at(static_cast<std::uint64_t>(sample)), static_cast<std::size_t>(step));
  }
  EXPECT_EQ(sampler.step_at(~std::uint64_t{0}), 3u);
}

TEST(Sampler, RefusesBatchesThatNoRankCanFill) {
  EXPECT_EQ(refusal_of(60000, 0, {0, 2}),
            "batch size 0: expected 1 to 30000, a rank's share of 60000 samples in a world of 2");
  EXPECT_EQ(
      refusal_of(60000, 30001, {1, 2}),
      "batch size 30001: expected 1 to 30000, a rank's share of 60000 samples in a world of 2");
  EXPECT_EQ(refusal_of(60000, 30000, {1, 2}), "accepted");
  for (const std::string count : {"0 samples", "1 sample", "3 samples"}) {
    EXPECT_EQ(refusal_of(std::stoul(count), 1, {0, 4}),
              "a data set of " + count +
                  " is too small for a world of 4, as each rank needs a sample: start fewer ranks, "
                  "or take more samples");
  }
  EXPECT_EQ(refusal_of(4, 1, {3, 4}), "accepted");
}

TEST(Sampler, RefusesARankOutsideOfTheWorld) {
  EXPECT_EQ(refusal_of(100, 1, {4, 4}), "rank 4 is not in a world of 4");
}

}  // namespace
}  // namespace rota
