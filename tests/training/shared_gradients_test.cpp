// Gradients that overlap in memory are refused, because a sum that was copied back would be sent
// again. Tied weights are one gradient.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rota/gradient_buckets.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "testing/error_of.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using ::testing::Each;

// Each gradient has a bucket of its own.
constexpr BucketOptions kOneEach{.first_bucket_bytes = 4, .bucket_bytes = 4};

// Returns the refusal of two gradients, or "accepted".
std::string overlap_of(const std::function<void()>& call) {
  const auto error = testing::error_of(call);
  if (!error) return "accepted";
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  return error->what();
}

std::string refusal_of_both(std::size_t one, std::size_t other) {
  return "gradients " + std::to_string(one) + " and " + std::to_string(other) +
         " overlap in memory, so values in both would be summed twice: give this memory as one "
         "gradient, and mark it ready after its last part was added";
}

class SharedGradients : public ::testing::Test {
 protected:
  std::string overlap_in(const std::vector<std::span<float>>& gradients) {
    return overlap_of([&] { GradientBuckets<float>(alone_, gradients, kOneEach); });
  }
  // Returns a part of one array.
  std::span<float> part(std::size_t offset, std::size_t count) {
    return std::span(all_).subspan(offset, count);
  }

  Communicator alone_{CommunicatorOptions{}};
  std::vector<float> all_ = std::vector<float>(100);
  std::vector<float> other_ = std::vector<float>(100);
};

TEST_F(SharedGradients, AreRefusedWhenTheBucketsAreMade) {
  EXPECT_EQ(overlap_in({all_, other_, all_}), refusal_of_both(0, 2));
  EXPECT_EQ(overlap_in({other_, all_, all_}), refusal_of_both(1, 2));
  EXPECT_EQ(overlap_in({part(0, 60), other_, part(59, 41)}), refusal_of_both(0, 2));
  EXPECT_EQ(overlap_in({part(59, 41), part(0, 60), other_}), refusal_of_both(0, 1));
  EXPECT_EQ(overlap_in({part(90, 5), other_, part(0, 20), part(30, 70)}), refusal_of_both(0, 3));
}

TEST_F(SharedGradients, MayTouch) {
  EXPECT_EQ(overlap_in({part(60, 40), other_, part(0, 60)}), "accepted");
}

TEST_F(SharedGradients, NeverOverlapWhereTheyAreEmpty) {
  EXPECT_EQ(overlap_in({all_, part(50, 0), {}, part(0, 0), {}, other_}), "accepted");
}

// A program that exchanges the memory of two gradients has both in one memory for a moment.
TEST_F(SharedGradients, AreRefusedAtTheNextStepAfterAnAttach) {
  GradientBuckets<float> buckets(alone_, {all_, other_}, kOneEach);
  buckets.attach(0, other_);
  EXPECT_EQ(overlap_of([&] { buckets.begin_step(1); }), refusal_of_both(0, 1));
  EXPECT_EQ(overlap_of([&] { buckets.begin_step(1); }), refusal_of_both(0, 1));
  buckets.attach(1, all_);
  EXPECT_EQ(overlap_of([&] { buckets.begin_step(1); }), "accepted");
}

// A bucket has a place for each gradient. An attached gradient may be at its own place, but not at
// that of another one.
TEST_F(SharedGradients, AreRefusedInsideABucketToo) {
  const std::vector<std::size_t> counts = {100, 100};
  GradientBuckets<float> buckets(alone_, counts, kOneEach);
  buckets.attach(1, buckets.gradient(0));
  EXPECT_EQ(overlap_of([&] { buckets.begin_step(1); }), refusal_of_both(0, 1));
  buckets.attach(0, all_);
  EXPECT_EQ(overlap_of([&] { buckets.begin_step(1); }), refusal_of_both(0, 1));
  buckets.attach(1, buckets.gradient(1));
  EXPECT_EQ(overlap_of([&] { buckets.begin_step(1); }), "accepted");
}

// Two layers use the weights that all ranks sum first. Bucket after bucket is waited for before the
// next gradient is ready: given twice, the memory would be summed twice.
TEST(TiedWeights, AreOneGradient) {
  testing::on_every_rank(3, [](Communicator& comm) {
    std::vector<float> tied(100);
    std::vector<float> between(50);
    GradientBuckets<float> buckets(comm, {tied, between}, kOneEach);
    for (int step = 0; step < 3; ++step) {
      std::ranges::fill(tied, 1.0F);  // The last layer's part.
      std::ranges::fill(between, 5.0F);
      buckets.begin_step(1);
      buckets.ready(1);
      buckets.wait(0);
      for (float& value : tied) value += 2;  // The first layer's part.
      buckets.ready(0);
      buckets.wait();
      EXPECT_THAT(tied, Each(9.0F));
      EXPECT_THAT(between, Each(15.0F));
    }
  });
}

}  // namespace
}  // namespace rota
