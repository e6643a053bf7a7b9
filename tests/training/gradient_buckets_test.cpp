// Buckets are summed over all ranks, each as soon as its last gradient is ready.
#include <rota/gradient_buckets.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "training/thread_ranks.h"

namespace rota {
namespace {

using testing::on_every_rank;

const std::vector<std::size_t> kCounts = {3, 100, 1, 0, 50, 17, 64, 200, 5};
const BucketOptions kSmallBuckets{.first_bucket_bytes = 64, .bucket_bytes = 512};

// Small integers: their sums are exact.
template <class T>
void fill(const GradientBuckets<T>& buckets, std::size_t index, std::size_t rank) {
  const std::span<T> gradient = buckets.gradient(index);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = static_cast<T>((rank + 1) * (index + i % 7));
  }
}

template <class T>
void expect_sum(const GradientBuckets<T>& buckets, std::size_t index, std::size_t world_size) {
  const std::span<T> gradient = buckets.gradient(index);
  const std::size_t factor = world_size * (world_size + 1) / 2;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    ASSERT_EQ(gradient[i], static_cast<T>(factor * (index + i % 7)));
  }
}

template <class T>
void expect_sums(const GradientBuckets<T>& buckets, std::size_t world_size) {
  for (std::size_t index = 0; index < kCounts.size(); ++index) {
    expect_sum(buckets, index, world_size);
  }
}

template <class T>
class GradientBucketsTest : public ::testing::Test {};
using Elements = ::testing::Types<float, double>;
TYPED_TEST_SUITE(GradientBucketsTest, Elements);

TYPED_TEST(GradientBucketsTest, SumOverAllRanksStepAfterStep) {
  for (std::size_t world_size = 1; world_size <= 4; ++world_size) {
    on_every_rank(world_size, [](Communicator& communicator) {
      GradientBuckets<TypeParam> buckets(communicator, kCounts, kSmallBuckets);
      for (int step = 0; step < 3; ++step) {
        buckets.begin_step();
        for (std::size_t index = kCounts.size(); index-- > 0;) {
          fill(buckets, index, communicator.rank());
          buckets.ready(index);
        }
        buckets.wait();
        expect_sums(buckets, communicator.world_size());
      }
    });
  }
}

// Method: every rank marks its gradients in an order of its own. Were buckets sent in the order in
// which they fill, ranks would disagree about which sum comes next.
TYPED_TEST(GradientBucketsTest, AreSentInOneOrderWhateverTheOrderOfGradients) {
  on_every_rank(3, [](Communicator& communicator) {
    GradientBuckets<TypeParam> buckets(communicator, kCounts, kSmallBuckets);
    std::mt19937 random(static_cast<unsigned>(communicator.rank()));
    std::vector<std::size_t> order(kCounts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (int step = 0; step < 10; ++step) {
      std::shuffle(order.begin(), order.end(), random);
      buckets.begin_step();
      for (const std::size_t index : order) {
        fill(buckets, index, communicator.rank());
        buckets.ready(index);
      }
      buckets.wait();
      expect_sums(buckets, communicator.world_size());
    }
  });
}

TYPED_TEST(GradientBucketsTest, TravelWhileOthersAreNotReadyYet) {
  on_every_rank(2, [](Communicator& communicator) {
    GradientBuckets<TypeParam> buckets(communicator, kCounts, kSmallBuckets);
    ASSERT_GT(buckets.layout().buckets.size(), 2u);
    buckets.begin_step();
    std::size_t index = kCounts.size();
    for (std::size_t bucket = 0; bucket < buckets.layout().buckets.size(); ++bucket) {
      const std::size_t end = index;
      while (index > 0 && buckets.layout().bucket_of[index - 1] == bucket) {
        fill(buckets, --index, communicator.rank());
        buckets.ready(index);
      }
      buckets.wait(bucket);  // Nothing beyond it is ready.
      for (std::size_t i = index; i < end; ++i) expect_sum(buckets, i, 2);
    }
  });
}

TEST(GradientBuckets, LieInMemoryThatPeersReach) {
  on_every_rank(2, [](Communicator& communicator) {
    GradientBuckets<float> buckets(communicator, kCounts, kSmallBuckets);
    const std::uint64_t before = communicator.staged_bytes();
    buckets.begin_step();
    for (std::size_t index = kCounts.size(); index-- > 0;) buckets.ready(index);
    buckets.wait();
    EXPECT_EQ(communicator.staged_bytes(), before);
  });
}

std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "accepted";
}

TEST(GradientBuckets, RefuseAGradientThatIsReadyTwice) {
  Communicator alone{CommunicatorOptions{}};
  GradientBuckets<float> buckets(alone, kCounts, kSmallBuckets);
  buckets.begin_step();
  buckets.ready(4);
  EXPECT_EQ(refusal_of([&] { buckets.ready(4); }), "gradient 4 was marked ready twice in one step");
}

TEST(GradientBuckets, RefuseToWaitForWhatWasNotSent) {
  Communicator alone{CommunicatorOptions{}};
  const std::vector<std::size_t> counts = {10, 10, 10};
  GradientBuckets<float> buckets(alone, counts, {.first_bucket_bytes = 64, .bucket_bytes = 128});
  buckets.begin_step();
  buckets.ready(2);
  buckets.ready(0);
  EXPECT_EQ(refusal_of([&] { buckets.wait(); }),
            "bucket 1 was not sent: 1 gradients of bucket 1 were not marked ready");
}

TEST(GradientBuckets, RefuseBucketsWithoutRoom) {
  Communicator alone{CommunicatorOptions{}};
  EXPECT_NE(refusal_of([&] {
              GradientBuckets<float>(alone, kCounts, {.first_bucket_bytes = 0, .bucket_bytes = 1});
            }),
            "accepted");
}

}  // namespace
}  // namespace rota
