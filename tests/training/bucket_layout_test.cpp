// Tests the places of gradients in buckets, and the order in which buckets are sent.
#include <gtest/gtest.h>

#include <vector>

#include <rota/gradient_buckets.h>

namespace rota {
namespace {

constexpr std::size_t kFloat = 4;

TEST(BucketLayout, PutsTheLastGradientFirst) {
  const BucketLayout layout = lay_out_buckets(std::vector<std::size_t>{16, 32, 48}, kFloat, {}, 1);
  EXPECT_EQ(layout.gradients[2], (Slice{0, 48}));
  EXPECT_EQ(layout.gradients[1], (Slice{48, 32}));
  EXPECT_EQ(layout.gradients[0], (Slice{80, 16}));
  EXPECT_EQ(layout.count, 96u);
}

TEST(BucketLayout, StartsEveryGradientAtACacheLine) {
  for (const std::size_t element_bytes : {4, 8}) {
    const BucketLayout layout =
        lay_out_buckets(std::vector<std::size_t>{1, 7, 16, 17, 0, 5}, element_bytes, {}, 1);
    for (const Slice& gradient : layout.gradients) {
      EXPECT_EQ(gradient.offset * element_bytes % 64, 0u);
    }
  }
}

TEST(BucketLayout, FillsASmallBucketAndThenLargerOnes) {
  const BucketOptions options{.first_bucket_bytes = 128, .bucket_bytes = 256};
  const std::vector<std::size_t> counts(7, 16);  // Each gradient has 64 bytes.
  const BucketLayout layout = lay_out_buckets(counts, kFloat, options, 1);
  EXPECT_EQ(layout.bucket_of, (std::vector<std::size_t>{2, 1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(layout.population, (std::vector<std::size_t>{2, 4, 1}));
  EXPECT_EQ(layout.buckets, (std::vector<Slice>{{0, 32}, {32, 64}, {96, 16}}));
}

TEST(BucketLayout, GivesAGradientThatFitsNowhereABucketToItself) {
  const BucketOptions options{.first_bucket_bytes = 64, .bucket_bytes = 64};
  const BucketLayout layout =
      lay_out_buckets(std::vector<std::size_t>{16, 1000, 16}, kFloat, options, 1);
  EXPECT_EQ(layout.bucket_of, (std::vector<std::size_t>{2, 1, 0}));
  EXPECT_EQ(layout.buckets[1], (Slice{16, 1000}));
}

TEST(BucketLayout, FillsLargerBucketsInALargeWorld) {
  const std::vector<std::size_t> counts(40, std::size_t{1} << 18);  // Each has 1 MiB.
  const auto gradients_of_a_bucket = [&](const BucketOptions& options, std::size_t world_size) {
    return lay_out_buckets(counts, kFloat, options, world_size).population[1];
  };
  EXPECT_EQ(gradients_of_a_bucket({}, 1), 4u);
  EXPECT_EQ(gradients_of_a_bucket({}, 128), 4u);
  EXPECT_EQ(gradients_of_a_bucket({}, 512), 16u);
  EXPECT_EQ(gradients_of_a_bucket({.bucket_bytes = std::size_t{2} << 20}, 512), 2u);
}

TEST(BucketLayout, DoesNotSendThePaddingAtTheEndOfABucket) {
  const BucketOptions options{.first_bucket_bytes = 64, .bucket_bytes = 64};
  const BucketLayout layout = lay_out_buckets(std::vector<std::size_t>{3, 5}, kFloat, options, 1);
  EXPECT_EQ(layout.buckets, (std::vector<Slice>{{0, 5}, {16, 3}}));
  EXPECT_EQ(layout.count, 32u);
}

TEST(BucketLayout, PutsWhatComesFirstIntoTheLastBucket) {
  const BucketOptions options{.first_bucket_bytes = 64, .bucket_bytes = 4096};
  const BucketLayout layout =
      lay_out_buckets(std::vector<std::size_t>{2, 100, 100, 100}, kFloat, options, 1);
  EXPECT_EQ(layout.bucket_of.front(), layout.buckets.size() - 1);
}

TEST(BucketLayout, OfNothingIsEmpty) {
  const BucketLayout layout = lay_out_buckets({}, kFloat, {}, 1);
  EXPECT_TRUE(layout.buckets.empty());
  EXPECT_EQ(layout.count, 0u);
}

// Whatever the sizes are, every element of every gradient must be in exactly one bucket.
TEST(BucketLayout, CoversEveryGradientOnce) {
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < 50; ++i) counts.push_back(i * i * 37 % 1009);
  for (const std::size_t bytes : {1, 64, 100, 1000, 4096, 1 << 20}) {
    const BucketOptions options{.first_bucket_bytes = bytes / 2 + 1, .bucket_bytes = bytes};
    const BucketLayout layout = lay_out_buckets(counts, kFloat, options, 1);
    std::size_t population = 0;
    for (const std::size_t some : layout.population) population += some;
    EXPECT_EQ(population, counts.size());
    std::size_t end = 0;
    for (std::size_t index = counts.size(); index-- > 0;) {
      const Slice& gradient = layout.gradients[index];
      const Slice& bucket = layout.buckets[layout.bucket_of[index]];
      EXPECT_EQ(gradient.count, counts[index]);
      EXPECT_GE(gradient.offset, end);
      EXPECT_GE(gradient.offset, bucket.offset);
      EXPECT_LE(gradient.offset + gradient.count, bucket.offset + bucket.count);
      end = gradient.offset + gradient.count;
    }
    EXPECT_LE(end, layout.count);
  }
}

}  // namespace
}  // namespace rota
