// Buckets whose gradients become means over ranks, for every type of gradients.
#include <rota/gradient_buckets.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <rota/error.h>

#include "training/thread_ranks.h"

namespace rota {
namespace {

const std::vector<std::size_t> kMeanCounts = {3, 100, 1, 0, 50};
const BucketOptions kMeans{.first_bucket_bytes = 64, .bucket_bytes = 128, .op = ReduceOp::kMean};

template <class T>
class GradientMeans : public ::testing::Test {};
using MeanTypes = ::testing::Types<float, double, Float16, Bfloat16>;
TYPED_TEST_SUITE(GradientMeans, MeanTypes);

// The sum of three ranks would be 178176, more than a Float16 holds.
TYPED_TEST(GradientMeans, DoNotOverflow) {
  testing::on_every_rank(3, [](Communicator& communicator) {
    GradientBuckets<TypeParam> buckets(communicator, kMeanCounts, kMeans);
    const auto large = static_cast<TypeParam>(59392.0F);  // 29 * 2^11: exact in 8 bits.
    for (std::size_t index = 0; index < kMeanCounts.size(); ++index) {
      std::ranges::fill(buckets.gradient(index), large);
    }
    buckets.begin_step(communicator.rank());  // The numbers of samples do not weigh.
    for (std::size_t index = kMeanCounts.size(); index-- > 0;) buckets.ready(index);
    buckets.wait();
    for (std::size_t index = 0; index < kMeanCounts.size(); ++index) {
      EXPECT_THAT(buckets.gradient(index), ::testing::Each(large));
    }
    EXPECT_EQ(buckets.world_sample_count(), 3u);
  });
}

TEST(GradientBucketsOfMeans, RefuseOtherReductions) {
  Communicator alone;
  BucketOptions options = kMeans;
  options.op = ReduceOp::kMax;
  try {
    const GradientBuckets<float> buckets(alone, kMeanCounts, options);
    FAIL() << "it was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(std::string(error.what()),
              "gradients become sums or means over ranks: BucketOptions::op cannot be max");
  }
}

}  // namespace
}  // namespace rota
