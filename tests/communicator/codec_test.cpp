// All-reduces with codecs: every rank gets the same bits, as the codec's format defines them, and
// the loss is known.
// Method: ranks are threads, over the real shared-memory transport.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "communicator/thread_world.h"
#include "testing/on_every_rank.h"
#include "testing/serial_coded_ring.h"
#include "testing/tcp_world.h"

namespace rota {
namespace {

using testing::on_every_rank;

constexpr Codec kCodecs[] = {Codec::kBfloat16, Codec::kFloat16, Codec::kInt8,
                             Codec::kInt8Stochastic, Codec::kTopK};

std::vector<Communicator> world_of(std::size_t world_size, CommunicatorOptions options = {}) {
  options.deadline = std::chrono::seconds(20);
  return ThreadWorld::make({.world_size = world_size, .communicator = options});
}

std::vector<float> contribution_of(std::size_t rank, std::size_t count) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(rank * 7919 + count));
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

std::vector<double> exact_sum(std::size_t world_size, std::size_t count) {
  std::vector<double> sum(count);
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    const auto values = contribution_of(rank, count);
    for (std::size_t i = 0; i < count; ++i) sum[i] += values[i];
  }
  return sum;
}

std::vector<std::vector<float>> contributions_of(std::size_t world_size, std::size_t count) {
  std::vector<std::vector<float>> all;
  for (std::size_t rank = 0; rank < world_size; ++rank) all.push_back(contribution_of(rank, count));
  return all;
}

std::vector<double> absolute(std::vector<double> values) {
  for (double& value : values) value = std::abs(value);
  return values;
}

// Returns, for each element, the largest possible error of a sum by stochastic int8. Each rank that
// encodes rounds up or down by at most one step, 1/127 of its largest partial sum in a block of 256
// elements.
std::vector<double> most_lost_by_chance(std::size_t world_size, std::size_t count) {
  const auto all = contributions_of(world_size, count);
  std::vector<double> lost(count);
  if (world_size == 1) return lost;
  const std::size_t blocks = (count + kernels::kInt8Block - 1) / kernels::kInt8Block;
  for (std::size_t chunk = 0; chunk < world_size; ++chunk) {
    const Slice own = slice_of(blocks, chunk, world_size);
    for (std::size_t block = own.offset; block < own.offset + own.count; ++block) {
      const std::size_t begin = block * kernels::kInt8Block;
      const std::size_t end = std::min(begin + kernels::kInt8Block, count);
      std::vector<double> partial(end - begin);
      double off = 0;
      for (std::size_t hop = 1; hop <= world_size; ++hop) {
        const auto& contribution = all[(chunk + hop) % world_size];
        for (std::size_t i = begin; i < end; ++i) partial[i - begin] += contribution[i];
        off += 1.0001 * (std::ranges::max(absolute(partial)) + off) / 127;
      }
      std::fill_n(lost.begin() + static_cast<std::ptrdiff_t>(begin), end - begin, off);
    }
  }
  return lost;
}

class CodecTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  static std::size_t n() { return GetParam(); }
};

// Counts below and above the sizes of blocks, chunks and pieces.
constexpr std::size_t kCounts[] = {1, 100, 4097, 70'001, 300'000};

TEST_P(CodecTest, LosesWhatItsFormatLosesAndNothingElse) {
  for (const Codec codec : kCodecs) {
    for (const std::size_t count : kCounts) {
      SCOPED_TRACE(std::string(to_string(codec)) + " " + std::to_string(count));
      auto world = world_of(n());
      std::vector<std::vector<float>> results(n());
      on_every_rank(world, [&](Communicator& comm) {
        auto values = contribution_of(comm.rank(), count);
        comm.all_reduce(values, Reduction(ReduceOp::kSum).by(codec));
        results[comm.rank()] = values;
      });
      for (const auto& result : results) EXPECT_EQ(result, results[0]);
      if (codec == Codec::kInt8Stochastic) {
        const auto sum = exact_sum(n(), count);
        const auto most_lost = most_lost_by_chance(n(), count);
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_LE(std::abs(results[0][i] - sum[i]), most_lost[i]) << i;
        }
      } else {
        const testing::SerialCodedRing ring(codec, ReduceOp::kSum, n());
        EXPECT_EQ(results[0], ring.reduce(contributions_of(n(), count)));
      }
    }
  }
}

TEST_P(CodecTest, AnInputStaysAsItIsAndGivesTheSameBits) {
  constexpr std::size_t kCount = 10'000;
  auto world = world_of(n());
  on_every_rank(world, [&](Communicator& comm) {
    const auto input = contribution_of(comm.rank(), kCount);
    std::vector<float> output(kCount);
    auto values = input;
    const Reduction mean = Reduction(ReduceOp::kMean).by(Codec::kInt8);
    comm.all_reduce(input, output, mean);
    comm.all_reduce(values, mean);
    EXPECT_EQ(input, contribution_of(comm.rank(), kCount));
    EXPECT_EQ(output, values);
  });
}

// Each rank knows the loss of what it has encoded; together the ranks know the whole loss of a
// step. Results plus all feedback equal the contributions of all steps.
TEST_P(CodecTest, WhatIsLostComesBack) {
  constexpr std::size_t kCount = 9'000;
  constexpr std::size_t kSteps = 8;
  for (const Codec codec : kCodecs) {
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMean}) {
      SCOPED_TRACE(std::string(to_string(codec)) + " " + std::string(to_string(op)));
      const double scale = op == ReduceOp::kMean ? 1.0 / static_cast<double>(n()) : 1.0;
      auto world = world_of(n());
      std::vector<double> total(kCount);
      std::vector<std::vector<float>> lost(n());
      on_every_rank(world, [&](Communicator& comm) {
        std::vector<float>& feedback = lost[comm.rank()];
        feedback.resize(kCount);
        for (std::size_t step = 0; step < kSteps; ++step) {
          auto values = contribution_of(comm.rank(), kCount);
          const Reduction coded = Reduction(op).by(codec);
          if (step % 2 == 0)
            comm.all_reduce_with_feedback(values, feedback, coded);
          else
            comm.all_reduce_with_feedback_async(values, feedback, coded).wait();
          for (std::size_t i = 0; i < kCount && comm.rank() == 0; ++i) total[i] += values[i];
        }
      });
      const auto sum = exact_sum(n(), kCount);
      for (std::size_t i = 0; i < kCount; ++i) {
        double expected = kSteps * sum[i];
        for (const auto& feedback : lost) expected -= feedback[i];
        ASSERT_NEAR(total[i], expected * scale, 1e-3) << i;
      }
    }
  }
}

TEST_P(CodecTest, FactorsOfEachRanksOwnComeFirst) {
  constexpr std::size_t kCount = 5'000;
  const auto factor_of = [](std::size_t rank) { return 0.5F + static_cast<float>(rank); };
  auto scaled = contributions_of(n(), kCount);
  for (std::size_t rank = 0; rank < n(); ++rank) {
    for (float& value : scaled[rank]) value *= factor_of(rank);
  }
  const testing::SerialCodedRing ring(Codec::kFloat16, ReduceOp::kSum, n());
  const auto expected = ring.reduce(scaled);
  auto world = world_of(n());
  on_every_rank(world, [&](Communicator& comm) {
    auto values = contribution_of(comm.rank(), kCount);
    const auto own = Reduction::pre_scaled_sum(factor_of(comm.rank()));
    comm.all_reduce(values, own.by(Codec::kFloat16));
    EXPECT_EQ(values, expected);
  });
}

TEST_P(CodecTest, OfTheCommunicatorIsForLargeSumsOfFloat32Alone) {
  CommunicatorOptions options;
  options.codec = Codec::kTopK;
  auto world = world_of(n(), options);
  const auto is_exact = [](auto value) { return value != decltype(value){}; };
  on_every_rank(world, [&](Communicator& comm) {
    EXPECT_EQ(comm.codec(), Codec::kTopK);
    std::vector<float> large(16'384, 1.0F);
    std::vector<float> small(16'383, 1.0F);
    std::vector<double> wide(16'384, 1.0);
    std::vector<float> largest(16'384, 1.0F);
    std::vector<float> asked_for(16'384, 1.0F);
    comm.all_reduce(large, ReduceOp::kSum);
    comm.all_reduce(small, ReduceOp::kSum);
    comm.all_reduce(wide, ReduceOp::kSum);
    comm.all_reduce(largest, ReduceOp::kMax);
    comm.all_reduce(asked_for, Reduction(ReduceOp::kSum).by(Codec::kIdentity));
    EXPECT_EQ(std::ranges::all_of(large, is_exact), comm.world_size() == 1);
    EXPECT_TRUE(std::ranges::all_of(small, is_exact));
    EXPECT_TRUE(std::ranges::all_of(wide, is_exact));
    EXPECT_TRUE(std::ranges::all_of(largest, is_exact));
    EXPECT_TRUE(std::ranges::all_of(asked_for, is_exact));
  });
}

// A codec also works for a group of buffers, and for calls that are in flight together.
TEST_P(CodecTest, GroupsAndRequestsTakeThemToo) {
  auto world = world_of(n());
  on_every_rank(world, [&](Communicator& comm) {
    const Reduction coded = Reduction(ReduceOp::kSum).by(Codec::kFloat16);
    auto all = contribution_of(comm.rank(), 6'000);
    auto parts = all;
    auto later = all;
    Request request = comm.all_reduce_async(later, coded);
    comm.all_reduce(all, coded);
    const std::span<float> whole(parts);
    comm.all_reduce({Values(whole.first(1'000)), Values(whole.subspan(1'000))}, coded);
    request.wait();
    EXPECT_EQ(parts, all);
    EXPECT_EQ(later, all);
  });
}

// The buffers are in shared memory. Without a codec the operation uses them where they are. With a
// codec it copies them into one buffer.
TEST_P(CodecTest, OneGroupMayTravelBothWays) {
  auto world = world_of(n());
  on_every_rank(world, [&](Communicator& comm) {
    constexpr std::size_t kCount = 3'000;
    const Block block = comm.allocate(2 * kCount * sizeof(float));
    const std::span<float> all(reinterpret_cast<float*>(block.bytes().data()), 2 * kCount);
    const std::vector<Values> group = {all.first(kCount), all.subspan(kCount)};
    for (const Codec codec : {Codec::kIdentity, Codec::kFloat16, Codec::kIdentity}) {
      std::ranges::fill(all, 1.0F);
      comm.all_reduce(group, Reduction(ReduceOp::kSum).by(codec));
      EXPECT_EQ(std::ranges::count(all, static_cast<float>(comm.world_size())), std::ssize(all));
    }
  });
}

TEST_P(CodecTest, ByChanceIsTheSameForTheSameSeed) {
  const auto sum_of = [](std::uint64_t seed) {
    CommunicatorOptions options;
    options.codec_seed = seed;
    auto world = world_of(n(), options);
    std::vector<float> result;
    on_every_rank(world, [&](Communicator& comm) {
      auto values = contribution_of(comm.rank(), 5'000);
      comm.all_reduce(values, Reduction(ReduceOp::kSum).by(Codec::kInt8Stochastic));
      if (comm.rank() == 0) result = values;
    });
    return result;
  };
  EXPECT_EQ(sum_of(1), sum_of(1));
  if (n() > 1) {
    EXPECT_NE(sum_of(1), sum_of(2));
  }
}

// Method: sum_of() makes a new world, makes `earlier` other calls there, and then a sum whose
// rounding is drawn by `number`.
TEST_P(CodecTest, ByChanceCanIgnoreEarlierCalls) {
  const auto sum_of = [](int earlier, std::uint64_t number) {
    auto world = world_of(n());
    std::vector<float> result;
    on_every_rank(world, [&](Communicator& comm) {
      for (int call = 0; call < earlier; ++call) comm.barrier();
      auto values = contribution_of(comm.rank(), 5'000);
      const auto chance = Reduction(ReduceOp::kSum).by(Codec::kInt8Stochastic);
      comm.all_reduce(values, chance.drawn_by(number));
      if (comm.rank() == 0) result = values;
    });
    return result;
  };
  EXPECT_EQ(sum_of(0, 8), sum_of(2, 8));
  if (n() > 1) {
    EXPECT_NE(sum_of(0, 8), sum_of(0, 9));
    EXPECT_NE(sum_of(0, 0), sum_of(2, 0)) << "number 0 means the index of the call";
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, CodecTest, ::testing::Values(1, 2, 3, 4, 7));

// Expects that later calls with the feedback wait for the coded sum. The coded sum travels along
// the ring. The later calls take other paths, to the opposite rank or over shared memory, so
// without the wait they could read the feedback too early.
void expect_feedback_is_awaited(std::vector<Communicator> world) {
  on_every_rank(world, [](Communicator& comm) {
    constexpr std::size_t kCount = 500'000;
    const std::size_t across = (comm.rank() + 2) % comm.world_size();
    auto values = contribution_of(comm.rank(), kCount);
    std::vector<float> lost(kCount);
    std::vector<float> theirs(kCount);
    std::vector<float> lost_by_all(kCount);
    std::vector<Request> requests;
    requests.push_back(comm.all_reduce_with_feedback_async(
        values, lost, Reduction(ReduceOp::kSum).by(Codec::kInt8)));
    requests.push_back(comm.receive_async(theirs, across));
    requests.push_back(comm.send_async(lost, across));
    requests.push_back(comm.all_reduce_async(lost, lost_by_all, ReduceOp::kSum));
    wait_all(requests);
    // All values are final now.
    std::vector<float> again(kCount);
    Request receiving = comm.receive_async(again, across);
    comm.send(lost, across);
    receiving.wait();
    EXPECT_TRUE(theirs == again) << "rank " << comm.rank() << " heard too early";
    comm.all_reduce(lost, again, ReduceOp::kSum);
    EXPECT_TRUE(lost_by_all == again) << "rank " << comm.rank() << " added too early";
  });
}

TEST(Codecs, HoldTheFeedbackUntilTheSumIsDone) {
  expect_feedback_is_awaited(world_of(4));
  expect_feedback_is_awaited(testing::tcp_world_of(4, {.deadline = std::chrono::seconds(20)}));
}

std::string refusal_of(const std::function<void(Communicator&)>& call) {
  auto world = world_of(1);
  try {
    call(world[0]);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return {};
}

TEST(Codecs, AreRefusedWhereTheyMakeNoSense) {
  std::vector<float> floats(8);
  std::vector<float> fewer(7);
  std::vector<double> doubles(8);
  const Reduction coded = Reduction(ReduceOp::kSum).by(Codec::kInt8);
  EXPECT_EQ(refusal_of([&](Communicator& comm) { comm.all_reduce(doubles, coded); }),
            "all_reduce: codecs are for float32");
  EXPECT_EQ(refusal_of([&](Communicator& comm) {
              comm.all_reduce(floats, Reduction(ReduceOp::kMax).by(Codec::kInt8));
            }),
            "all_reduce: codecs are for sums and means");
  EXPECT_EQ(refusal_of([&](Communicator& comm) { comm.reduce(floats, 0, coded); }),
            "reduce: codecs are for all_reduce");
  EXPECT_EQ(refusal_of([&](Communicator& comm) {
              comm.all_reduce_with_feedback(floats, floats, ReduceOp::kSum);
            }),
            "all_reduce: a feedback needs a codec that loses precision");
  EXPECT_EQ(
      refusal_of([&](Communicator& comm) { comm.all_reduce_with_feedback(floats, fewer, coded); }),
      "all_reduce: the feedback has 7 elements; expected 8");
  EXPECT_EQ(refusal_of(
                [&](Communicator& comm) { comm.all_reduce_with_feedback(floats, doubles, coded); }),
            "all_reduce: the feedback is not float32");
  EXPECT_EQ(
      refusal_of([&](Communicator& comm) { comm.all_reduce_with_feedback(floats, floats, coded); }),
      "all_reduce: the feedback overlaps the values");
}

TEST(Codecs, GoAlongTheRingAlone) {
  CommunicatorOptions options;
  options.codec = Codec::kBfloat16;
  options.plan = "star";
  try {
    world_of(2, options);
    FAIL() << "the plan star was accepted with a codec";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "values with the codec bf16 go along the ring: take plan auto or ring, not star");
  }
}

TEST(Codecs, ThatDifferAreAMismatch) {
  auto world = world_of(2);
  on_every_rank(world, [&](Communicator& comm) {
    std::vector<float> values(100);
    const Codec own = comm.rank() == 0 ? Codec::kInt8 : Codec::kInt8Stochastic;
    try {
      comm.all_reduce(values, Reduction(ReduceOp::kSum).by(own));
      ADD_FAILURE() << "rank " << comm.rank() << " got no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kMismatch) << error.what();
      EXPECT_NE(std::string(error.what()).find("(sum, ring, int8)"), std::string::npos)
          << error.what();
    }
  });
}

}  // namespace
}  // namespace rota
