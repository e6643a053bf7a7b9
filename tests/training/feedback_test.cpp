// What a codec has lost stays with its gradients when a training run goes on from a checkpoint,
// also with other buckets or with another codec. A step that was not finite leaves nothing behind.
// Method: the ranks are threads, and the files are real. A session tracks gradient buckets, and a
// visitor reads what they have lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <rota/gradient_buckets.h>
#include <rota/replica.h>
#include <rota/session.h>

#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using ::testing::HasSubstr;
using testing::on_every_rank;

// Each of them is large enough for a codec.
constexpr std::array<std::size_t, 2> kCodedCounts = {20'000, 30'001};
constexpr BucketOptions kTogether{.first_bucket_bytes = 1 << 20, .codec = Codec::kInt8};
constexpr BucketOptions kApart{.first_bucket_bytes = 1, .bucket_bytes = 1, .codec = Codec::kInt8};

using LostByName = std::map<std::string, std::vector<float>>;

class LostByNameReader final : public StateVisitor {
 public:
  bool writes() const noexcept override { return false; }
  void visit_fact(const StatePiece&, const std::string&) override {}
  void visit_counter(const StatePiece&, std::uint64_t&) override {}
  void visit_tensor(const StatePiece& piece, std::span<const std::size_t>, Values values) override {
    if (piece.fit != StateFit::kSummed) return;
    const auto* floats = reinterpret_cast<const float*>(values.data());
    lost[piece.name] = {floats, floats + values.count()};
  }
  LostByName lost;
};

template <class Object>
LostByName lost_by(Object& object) {
  LostByNameReader reader;
  object.visit_state(reader);
  return reader.lost;
}

// What a run has lost when it begins and when it ends, and what it says of its beginning.
struct Ran {
  std::size_t bucket_count = 0;
  std::string note;
  LostByName at_begin;
  LostByName at_end;
};

// Takes two more steps with these buckets.
Ran go_on(Communicator& communicator, const std::filesystem::path& folder,
          const BucketOptions& options) {
  GradientBuckets<float> buckets(communicator, kCodedCounts, options);
  Session session(communicator, {.checkpoints = {.folder = folder}});
  buckets.set_guard(&session.guard());
  session.track([&](StateVisitor& visitor) { buckets.visit_state(visitor); });
  Ran ran{.bucket_count = buckets.layout().buckets.size()};
  ran.note = session.restore().note;
  ran.at_begin = lost_by(buckets);
  const std::uint64_t end = session.step() + 2;
  while (session.step() < end && session.begin_step()) {
    buckets.begin_step(1);
    for (std::size_t index = kCodedCounts.size(); index-- > 0;) {
      const std::span<float> gradient = buckets.gradient(index);
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        const std::size_t number = i * 7 + index * 5 + session.step() * 3 + communicator.rank();
        gradient[i] = 1 / static_cast<float>(number % 1000 + 1);
      }
      buckets.ready(index);
    }
    buckets.wait();
    session.before_update();
    session.end_step();
  }
  ran.at_end = lost_by(buckets);
  session.end();
  return ran;
}

// Takes `steps` more steps with a codec that feeds back, and returns the weights.
std::vector<float> train_with_codec(Communicator& communicator, const std::filesystem::path& folder,
                                    std::uint64_t steps) {
  std::vector<float> weights(50'000);  // Enough for a codec.
  const std::size_t count = weights.size();
  GradientBuckets<float> buckets(communicator, std::span(&count, 1), {.codec = Codec::kInt8});
  Session session(communicator, {.checkpoints = {.folder = folder, .every_steps = 1}});
  buckets.set_guard(&session.guard());
  session.track("weights", weights);
  session.track([&](StateVisitor& visitor) { buckets.visit_state(visitor); });
  session.restore();
  const std::uint64_t end = session.step() + steps;
  while (session.step() < end && session.begin_step()) {
    buckets.begin_step(1);
    const std::span<float> gradient = buckets.gradient(0);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const std::size_t number = i * 7 + session.step() * 3 + communicator.rank();
      gradient[i] = 1 / static_cast<float>(number % 1000 + 1);
    }
    buckets.ready(0);
    buckets.wait();
    session.before_update();
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] += gradient[i];
    session.end_step();
  }
  session.end();
  return weights;
}

TEST(Feedback, OfALoopGoesOnWithTheSameBits) {
  const testing::TemporaryFolder folder;
  on_every_rank(2, [&](Communicator& communicator) {
    train_with_codec(communicator, folder.path() / "run", 3);
    EXPECT_EQ(train_with_codec(communicator, folder.path() / "run", 4),
              train_with_codec(communicator, folder.path() / "undisturbed", 7));
  });
}

TEST(Feedback, GoesOnInOtherBuckets) {
  for (const bool is_apart_first : {false, true}) {
    const testing::TemporaryFolder folder;
    on_every_rank(2, [&](Communicator& communicator) {
      const Ran first = go_on(communicator, folder.path(), is_apart_first ? kApart : kTogether);
      const Ran second = go_on(communicator, folder.path(), is_apart_first ? kTogether : kApart);
      EXPECT_NE(first.bucket_count, second.bucket_count);
      EXPECT_EQ(first.at_end.size(), kCodedCounts.size());
      EXPECT_NE(first.at_end, first.at_begin) << "the codec has lost something";
      EXPECT_TRUE(second.at_begin == first.at_end);
      EXPECT_EQ(second.note, "");
    });
  }
}

TEST(Feedback, BeginsWithZerosIfNothingWasLost) {
  BucketOptions uncoded = kTogether;
  uncoded.codec = Codec::kIdentity;
  const testing::TemporaryFolder folder;
  on_every_rank(2, [&](Communicator& communicator) {
    go_on(communicator, folder.path(), uncoded);
    const Ran ran = go_on(communicator, folder.path(), kTogether);
    EXPECT_EQ(ran.note, "codec was identity and is int8");
    for (const auto& [name, lost] : ran.at_begin) {
      EXPECT_EQ(lost, std::vector<float>(lost.size())) << name;
    }
  });
}

TEST(Feedback, IsLeftOutByACodecWithoutItAndThatIsSaid) {
  BucketOptions without = kApart;
  without.codec = Codec::kBfloat16;
  const testing::TemporaryFolder folder;
  on_every_rank(2, [&](Communicator& communicator) {
    go_on(communicator, folder.path(), kApart);
    const Ran ran = go_on(communicator, folder.path(), without);
    EXPECT_TRUE(ran.at_begin.empty());
    EXPECT_THAT(ran.note, HasSubstr("this training run has no codec/gradient 0/lost, "
                                    "codec/gradient 1/lost, so this is left out"));
  });
}

// An epoch of a loop of one's own ends with a step in which no rank has samples. No parameter is
// updated by its sums, so they must not have what the codec has lost.
TEST(Feedback, StaysInAStepWithoutSamples) {
  const Dataset data = testing::small_dataset(10);
  on_every_rank(2, [&](Communicator& communicator) {
    Replica<float> replica(communicator, Model<float>(data.shape, {dense(500), relu(), dense(4)}),
                           {.buckets = kTogether});
    BatchBuffer<float> buffer(data, 5);
    const std::vector<std::uint64_t> samples = {communicator.rank(), 2, 3};
    replica.step(buffer.gather(samples), {.epoch = 1, .step = 1});
    const LostByName lost = lost_by(replica);
    ASSERT_EQ(lost.size(), 4U);
    EXPECT_NE(lost.begin()->second, std::vector<float>(lost.begin()->second.size()));
    EXPECT_EQ(replica.step(buffer.gather({}), {.epoch = 1, .step = 2}).samples, 0U);
    EXPECT_TRUE(lost_by(replica) == lost);
    const auto few = std::span(samples).first(communicator.rank() == 0 ? 3 : 0);
    EXPECT_EQ(replica.step(buffer.gather(few), {.epoch = 2, .step = 1}).samples, 3U);
    EXPECT_FALSE(lost_by(replica) == lost) << "a step with samples on one rank sends gradients";
  });
}

// With int8, a NaN makes its whole block NaN, and so the values between two gradients. There, no
// program writes in the next step.
TEST(Feedback, OfAStepThatWasNotFiniteLeavesNothingBetweenGradients) {
  constexpr std::array<std::size_t, 2> kCounts = {20'003, 20'001};
  for (const Codec codec : {Codec::kInt8, Codec::kInt8Stochastic, Codec::kTopK}) {
    BucketOptions options = kTogether;
    options.codec = codec;
    on_every_rank(2, [&](Communicator& communicator) {
      GradientBuckets<float> buckets(communicator, kCounts, options);
      ASSERT_EQ(buckets.layout().buckets.size(), 1u);
      const auto take_step = [&](float last) {
        buckets.begin_step(1);
        for (const std::size_t index : {std::size_t{1}, std::size_t{0}}) {
          std::ranges::fill(buckets.gradient(index), 0.5F);
          buckets.gradient(index).back() = last;
          buckets.ready(index);
        }
        buckets.wait();
      };
      take_step(std::numeric_limits<float>::quiet_NaN());
      EXPECT_TRUE(std::isnan(buckets.gradient(1).back()));
      take_step(0.5F);
      const std::span<const float> all = buckets.bucket_values(0);
      EXPECT_TRUE(std::ranges::all_of(all, [](float value) { return std::isfinite(value); }));
    });
  }
}

}  // namespace
}  // namespace rota
