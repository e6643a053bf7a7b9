// Buckets are summed over all ranks, each as soon as its last gradient is ready.
#include <rota/gradient_buckets.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string_view>

#include "testing/serial_coded_ring.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using testing::on_every_rank;

const std::vector<std::size_t> kCounts = {3, 100, 1, 0, 50, 17, 64, 200, 5};
const BucketOptions kSmallBuckets{.first_bucket_bytes = 64, .bucket_bytes = 512};

// Returns a small number, which all element types hold exactly.
template <class T>
T exact(std::size_t value) {
  return static_cast<T>(static_cast<float>(value));
}

// Fills a gradient with small integers, whose sums are exact.
template <class T>
void fill(const GradientBuckets<T>& buckets, std::size_t index, std::size_t rank) {
  const std::span<T> gradient = buckets.gradient(index);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = exact<T>((rank + 1) * (index + i % 7));
  }
}

template <class T>
void expect_sum(const GradientBuckets<T>& buckets, std::size_t index, std::size_t world_size) {
  const std::span<T> gradient = buckets.gradient(index);
  const std::size_t factor = world_size * (world_size + 1) / 2;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    ASSERT_EQ(gradient[i], exact<T>(factor * (index + i % 7)));
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
using Elements = ::testing::Types<float, double, Float16, Bfloat16>;
TYPED_TEST_SUITE(GradientBucketsTest, Elements);

TYPED_TEST(GradientBucketsTest, SumOverAllRanksStepAfterStep) {
  for (std::size_t world_size = 1; world_size <= 4; ++world_size) {
    on_every_rank(world_size, [](Communicator& communicator) {
      GradientBuckets<TypeParam> buckets(communicator, kCounts, kSmallBuckets);
      for (int step = 0; step < 3; ++step) {
        buckets.begin_step(1);
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

// After an exception in the middle of its loop, a program may begin a step while a bucket is still
// being sent. If rota allowed this, the program would write new gradients into that bucket.
TYPED_TEST(GradientBucketsTest, RefuseAStepWhileABucketOfTheLastOneWasNotWaitedFor) {
  on_every_rank(2, [](Communicator& communicator) {
    GradientBuckets<TypeParam> buckets(communicator, kCounts, kSmallBuckets);
    buckets.begin_step(1);
    for (std::size_t index = kCounts.size(); index-- > 0;) {
      fill(buckets, index, communicator.rank());
      buckets.ready(index);
    }
    buckets.wait(0);
    try {
      buckets.begin_step(1);
      FAIL() << "bucket 1 was not waited for";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(std::string(error.what()).find("bucket 1 "), std::string::npos) << error.what();
    }
    buckets.wait();
    expect_sums(buckets, communicator.world_size());
    buckets.begin_step(1);
  });
}

// Method: every rank marks its gradients in its own order. If buckets were sent in the order in
// which they fill, ranks would disagree about which sum comes next.
TYPED_TEST(GradientBucketsTest, AreSentInOneOrderWhateverTheOrderOfGradients) {
  on_every_rank(3, [](Communicator& communicator) {
    GradientBuckets<TypeParam> buckets(communicator, kCounts, kSmallBuckets);
    std::mt19937 random(static_cast<unsigned>(communicator.rank()));
    std::vector<std::size_t> order(kCounts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (int step = 0; step < 10; ++step) {
      std::shuffle(order.begin(), order.end(), random);
      buckets.begin_step(1);
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
    buckets.begin_step(1);
    std::size_t index = kCounts.size();
    for (std::size_t bucket = 0; bucket < buckets.layout().buckets.size(); ++bucket) {
      const std::size_t end = index;
      while (index > 0 && buckets.layout().bucket_of[index - 1] == bucket) {
        fill(buckets, --index, communicator.rank());
        buckets.ready(index);
      }
      buckets.wait(bucket);  // No gradient beyond this bucket is ready.
      for (std::size_t i = index; i < end; ++i) expect_sum(buckets, i, 2);
    }
  });
}

TEST(GradientBuckets, LieInMemoryThatPeersReach) {
  on_every_rank(2, [](Communicator& communicator) {
    GradientBuckets<float> buckets(communicator, kCounts, kSmallBuckets);
    const std::uint64_t before = communicator.staged_bytes();
    buckets.begin_step(1);
    for (std::size_t index = kCounts.size(); index-- > 0;) buckets.ready(index);
    buckets.wait();
    EXPECT_EQ(communicator.staged_bytes(), before);
  });
}

// No float can hold some of these counts exactly.
TYPED_TEST(GradientBucketsTest, CountTheSamplesOfAllRanksExactly) {
  on_every_rank(3, [](Communicator& communicator) {
    GradientBuckets<TypeParam> buckets(communicator, kCounts, kSmallBuckets);
    for (const std::uint64_t count : {0ULL, 100ULL, 4095ULL, (1ULL << 24) + 1, (1ULL << 36) - 3}) {
      buckets.begin_step(count + communicator.rank());
      for (std::size_t index = kCounts.size(); index-- > 0;) buckets.ready(index);
      EXPECT_EQ(buckets.world_sample_count(), 3 * count + 0 + 1 + 2);
      buckets.wait();
    }
  });
}

// Method: before a rank waits for the count, it marks no gradient, or only the last one of a bucket
// with several.
TYPED_TEST(GradientBucketsTest, KnowTheCountBeforeAnyBucketIsSent) {
  on_every_rank(2, [](Communicator& communicator) {
    const std::vector<std::size_t> counts = {100, 8, 8};
    GradientBuckets<TypeParam> buckets(communicator, counts,
                                       {.first_bucket_bytes = 128, .bucket_bytes = 64});
    for (std::size_t marked = 0; marked < 2; ++marked) {
      buckets.begin_step(communicator.rank() == 0 ? 0 : 7);
      if (marked > 0) buckets.ready(2);
      EXPECT_EQ(buckets.world_sample_count(), 7u);
      for (std::size_t index = counts.size() - marked; index-- > 0;) buckets.ready(index);
      buckets.wait();
    }
  });
}

TEST(GradientBuckets, OfNoGradientsStillCount) {
  on_every_rank(2, [](Communicator& communicator) {
    GradientBuckets<float> buckets(communicator, std::vector<std::size_t>{});
    buckets.begin_step(5);
    EXPECT_EQ(buckets.world_sample_count(), 10u);
    buckets.begin_step(1);
    buckets.wait();
    EXPECT_EQ(buckets.world_sample_count(), 2u);
  });
}

// The sums are in double, whatever type the gradients have. Some sums have more values than fit
// into a post.
TYPED_TEST(GradientBucketsTest, AddUpWhatIsGivenBesideTheCount) {
  on_every_rank(3, [](Communicator& communicator) {
    GradientBuckets<TypeParam> buckets(communicator, kCounts, kSmallBuckets);
    const auto rank = static_cast<double>(communicator.rank());
    for (const std::size_t count : {2, 5, 0, 40, 2}) {
      std::vector<double> mine(count);
      for (std::size_t i = 0; i < count; ++i) {
        mine[i] = rank + static_cast<double>(i) + 16777217;  // No float can hold this number.
      }
      buckets.begin_step(1, mine);
      buckets.send_sums();
      std::ranges::fill(mine, 0);  // begin_step() copied them.
      for (std::size_t index = kCounts.size(); index-- > 0;) buckets.ready(index);
      ASSERT_EQ(buckets.world_sums().size(), count);
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(buckets.world_sums()[i], 3 + 3 * (static_cast<double>(i) + 16777217));
      }
      EXPECT_EQ(buckets.world_sample_count(), 3u);
      buckets.wait();
    }
  });
}

// One rank may refuse a batch and begin the step again: the other ranks wait for it, and are not
// told.
TEST(GradientBuckets, MayBeginAStepAgainBeforeAnythingWasSent) {
  on_every_rank(2, [](Communicator& communicator) {
    GradientBuckets<float> buckets(communicator, kCounts, kSmallBuckets);
    if (communicator.rank() == 1) buckets.begin_step(100);
    buckets.begin_step(4);
    for (std::size_t index = kCounts.size(); index-- > 0;) buckets.ready(index);
    buckets.wait();
    EXPECT_EQ(buckets.world_sample_count(), 8u);
  });
}

TEST(GradientBuckets, RefuseAStepWhileTheCountOfTheLastOneWasNotWaitedFor) {
  Communicator alone{CommunicatorOptions{}};
  GradientBuckets<float> buckets(alone, kCounts, kSmallBuckets);
  buckets.begin_step(1);
  buckets.send_sums();
  try {
    buckets.begin_step(1);
    FAIL() << "the count was not waited for";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), ::testing::StartsWith("the count of samples was sent in the step"));
  }
}

// A model from another library: its two gradients stay in memory of their own.
template <class T>
struct Stranger {
  std::vector<T> weights = std::vector<T>(100);
  std::vector<T> biases = std::vector<T>(7);

  void work(std::size_t value) {
    std::ranges::fill(weights, exact<T>(value));
    std::ranges::fill(biases, exact<T>(2 * value));
  }
};

TYPED_TEST(GradientBucketsTest, SumGradientsThatStayWhereTheyAre) {
  on_every_rank(3, [](Communicator& communicator) {
    Stranger<TypeParam> model;
    GradientBuckets<TypeParam> buckets(communicator, {model.weights, model.biases}, kSmallBuckets);
    for (std::size_t step = 1; step <= 3; ++step) {
      model.work(step * (communicator.rank() + 1));
      buckets.begin_step(1);
      buckets.ready(1);
      buckets.ready(0);
      buckets.wait();
      buckets.wait();  // A second wait copies nothing.
      EXPECT_THAT(model.weights, ::testing::Each(exact<TypeParam>(6 * step)));
      EXPECT_THAT(model.biases, ::testing::Each(exact<TypeParam>(12 * step)));
      EXPECT_EQ(buckets.copied_bytes(), step * 2 * 107 * sizeof(TypeParam))
          << "each way, each step";
    }
  });
}

TYPED_TEST(GradientBucketsTest, CopyWhatIsAttachedAndNothingElse) {
  on_every_rank(2, [](Communicator& communicator) {
    const std::vector<std::size_t> counts = {100, 7};
    GradientBuckets<TypeParam> buckets(communicator, counts, kSmallBuckets);
    std::vector<TypeParam> biases(7);
    buckets.attach(1, biases);
    std::ranges::fill(biases, exact<TypeParam>(3));
    std::ranges::fill(buckets.gradient(0), exact<TypeParam>(4));
    buckets.begin_step(1);
    buckets.ready(1);
    buckets.ready(0);
    buckets.wait();
    EXPECT_THAT(biases, ::testing::Each(exact<TypeParam>(6)));
    EXPECT_THAT(buckets.gradient(0), ::testing::Each(exact<TypeParam>(8)));
    EXPECT_EQ(buckets.copied_bytes(), 2 * 7 * sizeof(TypeParam));
  });
}

// Attached gradients are copied out of their own memory, and then need no staging.
TEST(GradientBuckets, CopyWhatIsAttachedOnceEachWay) {
  on_every_rank(2, [](Communicator& communicator) {
    Stranger<float> model;
    GradientBuckets<float> buckets(communicator, {model.weights, model.biases});
    const std::uint64_t before = communicator.staged_bytes();
    buckets.begin_step(1);
    buckets.ready(1);
    buckets.ready(0);
    buckets.wait();
    EXPECT_EQ(communicator.staged_bytes(), before);
  });
}

TEST(BroadcastParameters, LeavesThoseOfTheRootOnEveryRank) {
  on_every_rank(3, [](Communicator& communicator) {
    const auto rank = static_cast<float>(communicator.rank());
    std::vector<float> weights(100, rank);
    std::vector<double> biases(7, 10.0 + static_cast<double>(rank));
    broadcast_parameters(communicator, {weights, biases});
    EXPECT_THAT(weights, ::testing::Each(0.0F));
    EXPECT_THAT(biases, ::testing::Each(10.0));
    weights.assign(100, rank);
    broadcast_parameters(communicator, {weights}, 2);
    EXPECT_THAT(weights, ::testing::Each(2.0F));
  });
}

TEST(BroadcastParameters, ShowsEveryRankWhoseModelIsAnother) {
  const auto outcomes = testing::outcomes_of_ranks(3, [](Communicator& communicator) {
    std::vector<float> weights(100);
    std::vector<float> biases(communicator.rank() == 2 ? 8 : 7);
    broadcast_parameters(communicator, {weights, biases});
  });
  for (const std::exception_ptr& outcome : outcomes) {
    const Error error = testing::error_of(outcome);
    EXPECT_EQ(error.code(), ErrorCode::kMismatch);
    EXPECT_EQ(error.blamed_rank(), 2u);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("rank 2 has parameter 1 of 8 elements"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("rank 0 has parameter 1 of 7 elements"));
  }
}

// The first two buckets are too small for the codec; the third bucket is coded.
TEST(GradientBuckets, TravelByACodecWhereThatIsWorthIt) {
  const std::vector<std::size_t> counts = {40'000, 1'000, 500};
  const BucketOptions options{
      .first_bucket_bytes = 4096, .bucket_bytes = 4096, .codec = Codec::kTopK};
  on_every_rank(3, [&](Communicator& communicator) {
    GradientBuckets<float> buckets(communicator, counts, options);
    ASSERT_EQ(buckets.layout().buckets.size(), 3u);
    const std::uint64_t sent_before = communicator.sent_bytes();
    buckets.begin_step(100'003);
    for (std::size_t index = counts.size(); index-- > 0;) {
      std::ranges::fill(buckets.gradient(index), 0.1F);
      buckets.ready(index);
    }
    buckets.wait();
    EXPECT_EQ(buckets.world_sample_count(), 300'009u);
    const auto is_whole = [](float value) { return std::abs(value - 0.3F) < 1e-6F; };
    EXPECT_TRUE(std::all_of(buckets.gradient(2).begin(), buckets.gradient(2).end(), is_whole));
    EXPECT_TRUE(std::all_of(buckets.gradient(1).begin(), buckets.gradient(1).end(), is_whole));
    EXPECT_LT(std::count_if(buckets.gradient(0).begin(), buckets.gradient(0).end(), is_whole),
              1'000);
    EXPECT_LT(communicator.sent_bytes() - sent_before, 20'000u);
  });
}

// The codec applies to the first bucket too: the count of samples is sent separately.
TEST(GradientBuckets, TravelByACodecInTheFirstBucketToo) {
  const std::vector<std::size_t> counts = {40'000};
  on_every_rank(2, [&](Communicator& communicator) {
    GradientBuckets<float> buckets(communicator, counts, {.codec = Codec::kBfloat16});
    buckets.begin_step(100'003);
    std::ranges::fill(buckets.gradient(0), 0.1F);
    buckets.ready(0);
    buckets.wait();
    EXPECT_EQ(buckets.world_sample_count(), 200'006u);
    EXPECT_NE(buckets.gradient(0).front(), 0.2F);
    EXPECT_NEAR(buckets.gradient(0).front(), 0.2F, 1e-3F);
  });
}

// If the gradients stay the same, top-k has sent all of them after some steps. Each step has the
// bits of a serial ring that keeps what the codec has lost.
TEST(GradientBuckets, KeepWhatACodecLost) {
  constexpr std::size_t kCount = 20'000;
  constexpr std::size_t kWorld = 2;
  constexpr std::size_t kSteps = 100;
  std::vector<testing::Floats> expected;
  std::vector<testing::Floats> lost(kWorld, testing::Floats(kCount));
  const testing::SerialCodedRing ring(Codec::kTopK, ReduceOp::kSum, kWorld);
  for (std::size_t step = 0; step < kSteps; ++step) {
    expected.push_back(ring.reduce({kWorld, testing::Floats(kCount, 0.5F)}, lost));
  }
  const std::vector<std::size_t> counts = {kCount, 8};
  const BucketOptions options{.first_bucket_bytes = 256, .codec = Codec::kTopK};
  on_every_rank(kWorld, [&](Communicator& communicator) {
    GradientBuckets<float> buckets(communicator, counts, options);
    std::vector<float> total(kCount);
    for (std::size_t step = 0; step < kSteps; ++step) {
      buckets.begin_step(1);
      std::ranges::fill(buckets.gradient(0), 0.5F);
      buckets.ready(1);
      buckets.ready(0);
      buckets.wait();
      ASSERT_TRUE(std::ranges::equal(buckets.gradient(0), expected[step])) << step;
      for (std::size_t i = 0; i < kCount; ++i) total[i] += buckets.gradient(0)[i];
    }
    EXPECT_GT(std::ranges::min(total), 0.0F) << "without feedback most would stay 0";
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
  buckets.begin_step(1);
  buckets.ready(4);
  EXPECT_EQ(refusal_of([&] { buckets.ready(4); }), "gradient 4 was marked ready twice in one step");
}

TEST(GradientBuckets, RefuseAGradientThatDoesNotExist) {
  Communicator alone{CommunicatorOptions{}};
  GradientBuckets<float> buckets(alone, kCounts, kSmallBuckets);
  buckets.begin_step(1);
  EXPECT_EQ(refusal_of([&] { buckets.ready(9); }),
            "there is no gradient 9: there are 9 gradients, numbered from 0");
  EXPECT_EQ(refusal_of([&] { buckets.attach(9, {}); }),
            "there is no gradient 9: there are 9 gradients, numbered from 0");
}

TEST(GradientBuckets, RefuseMemoryOfAnotherCount) {
  Communicator alone{CommunicatorOptions{}};
  GradientBuckets<float> buckets(alone, kCounts, kSmallBuckets);
  std::vector<float> gradient(99);
  EXPECT_EQ(refusal_of([&] { buckets.attach(1, gradient); }),
            "gradient 1 has 100 elements, but is attached to memory of 99");
}

TEST(GradientBuckets, RefuseToWaitForWhatWasNotSent) {
  Communicator alone{CommunicatorOptions{}};
  const std::vector<std::size_t> counts = {10, 10, 10};
  GradientBuckets<float> buckets(alone, counts, {.first_bucket_bytes = 64, .bucket_bytes = 128});
  buckets.begin_step(1);
  buckets.ready(2);
  buckets.ready(0);
  EXPECT_EQ(refusal_of([&] { buckets.wait(); }),
            "bucket 1 was not sent: gradient 1 of bucket 1 was not marked ready: call ready() for "
            "each gradient in each step");
}

TEST(GradientBuckets, NameTheGradientsThatWereNotMarkedReady) {
  Communicator alone{CommunicatorOptions{}};
  const std::vector<std::size_t> counts(20, 10);
  GradientBuckets<float> buckets(alone, counts, {.first_bucket_bytes = 1 << 20});
  buckets.begin_step(1);
  EXPECT_EQ(refusal_of([&] { buckets.wait(); }),
            "bucket 0 was not sent: gradients 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 "
            "and 4 more of bucket 0 were not marked ready: call ready() for each gradient in each "
            "step");
  for (std::size_t index = 0; index < 20; ++index) {
    if (index != 3 && index != 19) buckets.ready(index);
  }
  EXPECT_EQ(refusal_of([&] { buckets.wait(0); }),
            "bucket 0 was not sent: gradients 3, 19 of bucket 0 were not marked ready: call "
            "ready() for each gradient in each step");
  buckets.ready(3);
  buckets.ready(19);
  buckets.wait();
}

TEST(GradientBuckets, RefuseToWaitForABucketThatDoesNotExist) {
  Communicator alone{CommunicatorOptions{}};
  GradientBuckets<float> buckets(alone, std::vector<std::size_t>{});
  buckets.begin_step(1);
  EXPECT_EQ(refusal_of([&] { buckets.wait(0); }),
            "there is no bucket 0: there are 0 buckets, numbered from 0");
}

TEST(GradientBuckets, RefuseACodecOfOtherTypesThanFloat) {
  Communicator alone{CommunicatorOptions{}};
  const BucketOptions coded{.codec = Codec::kBfloat16};
  constexpr std::string_view kReason = "codecs are for gradients of float32";
  EXPECT_EQ(refusal_of([&] { GradientBuckets<double>(alone, kCounts, coded); }), kReason);
  EXPECT_EQ(refusal_of([&] { GradientBuckets<Float16>(alone, kCounts, coded); }), kReason);
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
