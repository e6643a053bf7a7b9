// Messages take as few steps as the plans promise, and carry the right elements.
#include "plan/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>

#include "plan/question.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;
using collectives::Collective;
using collectives::Lane;
using collectives::Plan;
using collectives::Verb;

Question question_of(Algorithm algorithm, Collective collective, std::size_t world_size) {
  return {.collective = collective,
          .algorithm = algorithm,
          .world_size = world_size,
          .count = 16 * world_size};
}

std::vector<Arrow> arrows_of(const Question& question) {
  return schedule(plans_of(question), input_offsets_of(question));
}

std::size_t steps_of(const Question& question) {
  const auto arrows = arrows_of(question);
  return arrows.empty() ? 0 : arrows.back().step + 1;
}

std::size_t step_count_of(Algorithm algorithm, Collective collective, std::size_t world_size) {
  return steps_of(question_of(algorithm, collective, world_size));
}

std::size_t all_reduce_steps(Algorithm algorithm, std::size_t world_size) {
  return step_count_of(algorithm, Collective::kAllReduce, world_size);
}

TEST(Schedule, TakesEveryHopOfARingTwice) {
  for (std::size_t n = 1; n <= 17; ++n)
    EXPECT_EQ(all_reduce_steps(Algorithm::kRing, n), 2 * (n - 1));
}

TEST(Schedule, TakesTwoStepsForADirectExchangeAndByWayOfOneRank) {
  for (std::size_t n = 2; n <= 17; ++n) {
    EXPECT_EQ(all_reduce_steps(Algorithm::kDirect, n), 2U);
    EXPECT_EQ(all_reduce_steps(Algorithm::kHub, n), 2U);
    EXPECT_EQ(all_reduce_steps(Algorithm::kStar, n), 2U);
  }
}

TEST(Schedule, TakesALogarithmOfStepsEachWayForTreesAndHalvings) {
  for (std::size_t log = 1; log <= 5; ++log) {
    const std::size_t n = std::size_t{1} << log;
    EXPECT_EQ(all_reduce_steps(Algorithm::kTree, n), 2 * log);
    EXPECT_EQ(all_reduce_steps(Algorithm::kHalvingDoubling, n), 2 * log);
    EXPECT_EQ(step_count_of(Algorithm::kTree, Collective::kBroadcast, n), log);
  }
}

// In the last round, a message may report so few ranks that the sender knew of them one round
// earlier. Then the message need not wait for the round before, and the barrier takes one step
// less.
TEST(Schedule, TakesALogarithmOfStepsForDissemination) {
  for (std::size_t n = 1; n <= 17; ++n) {
    const auto log = static_cast<std::size_t>(std::bit_width(n - 1));
    const bool is_early = 4 * n <= 3 * std::bit_ceil(n);
    EXPECT_EQ(step_count_of(Algorithm::kDissemination, Collective::kBarrier, n),
              is_early ? log - 1 : log);
  }
}

std::size_t count_sends(const std::vector<Plan>& plans) {
  std::size_t count = 0;
  for (const Plan& plan : plans) {
    for (const Lane& lane : plan.lanes) {
      if (lane.kind == Lane::Kind::kSends) count += lane.step_count;
    }
  }
  return count;
}

// The first piece travels n - 1 hops, and each further piece follows one step behind. There are so
// many pieces that the hops are at most a sixteenth of all steps. So a chain takes at most a
// sixteenth longer than one copy.
TEST(Schedule, LetsPiecesFollowEachOtherAlongAChain) {
  for (const Collective collective : {Collective::kBroadcast, Collective::kReduce}) {
    for (std::size_t n = 2; n <= 66; n += n < 17 ? 1 : 49) {
      Question question = question_of(Algorithm::kChain, collective, n);
      EXPECT_EQ(steps_of(question), n - 1) << title_of(question);
      question.count = std::size_t{4} << 20;
      const std::size_t pieces = count_sends(plans_of(question)) / (n - 1);
      EXPECT_EQ(pieces, std::max<std::size_t>(64, 16 * (n - 2))) << title_of(question);
      EXPECT_EQ(steps_of(question), pieces + n - 2) << title_of(question);
      EXPECT_LE(16 * steps_of(question), 17 * pieces) << title_of(question);
    }
  }
}

// Every message arrives, and in each step a rank sends at most one message to each other rank.
TEST(Schedule, DeliversEveryMessageOfEveryPlan) {
  for (std::uint8_t a = 1; a <= static_cast<std::uint8_t>(Algorithm::kDissemination); ++a) {
    for (std::uint8_t c = 1; c <= static_cast<std::uint8_t>(Collective::kBarrier); ++c) {
      if (!makes(static_cast<Algorithm>(a), static_cast<Collective>(c))) continue;
      for (std::size_t n = 1; n <= 9; ++n) {
        Question question = question_of(static_cast<Algorithm>(a), static_cast<Collective>(c), n);
        question.root = n - 1;
        for (std::size_t rank = 0; rank < n; ++rank)
          question.hosts.emplace_back(rank < 4 ? "a" : "b");
        for (const bool in_place : {true, false}) {
          question.in_place = in_place;
          const auto arrows = arrows_of(question);
          EXPECT_EQ(arrows.size(), count_sends(plans_of(question))) << title_of(question);
          EXPECT_TRUE(std::ranges::is_sorted(arrows, {}, &Arrow::step)) << title_of(question);
          std::set<std::tuple<std::size_t, std::size_t, std::size_t>> different;
          for (const Arrow& arrow : arrows) different.insert({arrow.step, arrow.from, arrow.to});
          EXPECT_EQ(different.size(), arrows.size()) << title_of(question);
        }
      }
    }
  }
}

// The input does not change: partial results are in scratch memory, and the result begins at
// element 0.
TEST(Schedule, KnowsElementsByTheirPlaceInTheWhole) {
  Question question = question_of(Algorithm::kRing, Collective::kReduceScatter, 4);
  question.in_place = false;
  const auto scattered = arrows_of(question);
  ASSERT_EQ(scattered.size(), 12U);
  for (const Arrow& arrow : scattered) {
    EXPECT_EQ(arrow.verb, Verb::kReduce);
    // Chunk c starts at rank c + 1 and moves one rank per step.
    EXPECT_EQ(arrow.elements, slice_of(64, (arrow.from + 3 - arrow.step) % 4, 4));
  }
  question = question_of(Algorithm::kDirect, Collective::kGather, 3);
  question.in_place = false;
  for (const Arrow& arrow : arrows_of(question)) {
    EXPECT_EQ(arrow.elements, slice_of(48, arrow.from, 3));
    EXPECT_EQ(arrow.verb, Verb::kReceive);
  }
}

TEST(Schedule, NamesARankThatWaitsForEver) {
  std::vector<Plan> plans(2);
  plans[1].lanes.push_back({.kind = Lane::Kind::kReceives, .peer = 0, .step_count = 1});
  plans[1].steps.push_back({.verb = Verb::kReceive, .at = {.slice = {0, 1}}});
  try {
    schedule(plans);
    FAIL() << "schedule() ended, although a rank waits for ever";
  } catch (const std::logic_error& error) {
    EXPECT_NE(std::string(error.what()).find("rank 1 waits"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace rota::bench
