// Tests, with plans of a few steps, what orders two steps and what does not. Other tests of this
// file check what is reported about missing and redundant dependencies.
#include "testing/plan_conflicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "collectives/every_request.h"
#include "collectives/plan_builder.h"
#include "testing/plan_order.h"

namespace rota {
namespace {

using collectives::After;
using collectives::Algorithm;
using collectives::Buffer;
using collectives::Collective;
using collectives::Place;
using collectives::Plan;
using collectives::PlanBuilder;
using collectives::PlanRequest;
using testing::Dependency;
using ::testing::HasSubstr;
using testing::PlanOrder;

constexpr Place kFirst{Buffer::kValues, {0, 1}};
constexpr Place kSecond{Buffer::kValues, {1, 1}};

// Returns plans without steps, one for each rank.
std::vector<PlanBuilder> builders(std::size_t n) {
  std::vector<PlanBuilder> builders;
  for (std::size_t rank = 0; rank < n; ++rank) builders.emplace_back(PlanRequest{{}, rank, n});
  return builders;
}

std::vector<Plan> built(std::vector<PlanBuilder> builders) {
  std::vector<Plan> plans;
  plans.reserve(builders.size());
  for (PlanBuilder& builder : builders) plans.push_back(builder.build());
  return plans;
}

// Makes the first step of a lane wait only for `after`.
void set_after(Plan& plan, std::size_t lane, After after) {
  auto& step = plan.steps[plan.lanes[lane].first_step];
  step.first_after = static_cast<std::uint32_t>(plan.afters.size());
  step.after_count = 1;
  plan.afters.push_back(after);
}

std::string wait_of(const std::vector<Plan>& plans) {
  return PlanOrder(plans).endless_wait().value_or("");
}

std::string conflict_of(const std::vector<Plan>& plans,
                        const std::vector<PlanRequest>& requests = {{}}) {
  const PlanOrder order(plans);
  EXPECT_EQ(order.endless_wait().value_or(""), "");
  return find_conflict(order, requests).value_or("");
}

// Returns the conflict that is reported if this dependency is removed.
std::string conflict_without(const PlanRequest& request, const Dependency& dependency) {
  const auto requests = testing::for_each_rank(request);
  auto plans = testing::plans_of(requests);
  testing::remove_dependency(plans, dependency);
  return conflict_of(plans, requests);
}

TEST(PlanOrder, StepsOfALaneAreInOrder) {
  auto ranks = builders(2);
  for (int i = 0; i < 2; ++i) {
    ranks[0].send(1, kFirst);
    ranks[1].receive(0, kFirst);
  }
  EXPECT_EQ(conflict_of(built(ranks)), "");
}

TEST(PlanOrder, LanesAreInNone) {
  auto ranks = builders(3);
  ranks[0].receive(1, kFirst);
  ranks[0].receive(2, kFirst);
  ranks[1].send(0, kFirst);
  ranks[2].send(0, kFirst);
  auto plans = built(ranks);
  EXPECT_EQ(conflict_of(plans), "");
  testing::remove_dependency(plans, {0, 0});
  EXPECT_EQ(conflict_of(plans),
            "rank 0: step 1 from rank 1 writes the values from 0 to 0, step 1 from rank 2 writes "
            "them, and neither waits for the other");
}

// Rank 0 receives from rank 1. Then rank 0 sends to rank 2, and after that rank 2 sends to rank 0.
TEST(PlanOrder, MessagesThroughOtherRanksOrderAReceive) {
  auto ranks = builders(3);
  ranks[0].receive(1, kFirst);
  ranks[0].send_bare(2);
  ranks[0].receive(2, kFirst);
  ranks[1].send(0, kFirst);
  ranks[2].receive_bare(0);
  ranks[2].send(0, kFirst);
  auto plans = built(ranks);
  testing::remove_dependency(plans, {0, 0});
  EXPECT_THAT(conflict_of(plans), HasSubstr("step 1 from rank 2 writes them"));
  set_after(plans[0], 1, {.lane = 0, .count = 1});
  EXPECT_THAT(conflict_of(plans), HasSubstr("step 1 from rank 2 writes them"));
  set_after(plans[2], 1, {.lane = 0, .count = 1});
  EXPECT_EQ(conflict_of(plans), "");
}

// The peer's answer may arrive before the wire has finished with the bytes that were sent.
TEST(PlanOrder, AnAnswerDoesNotEndTheSend) {
  auto ranks = builders(2);
  ranks[0].send(1, kFirst);
  ranks[0].receive(1, kFirst);
  ranks[1].receive(0, kFirst);
  ranks[1].send(0, kFirst);
  auto plans = built(ranks);
  EXPECT_EQ(conflict_of(plans), "");
  testing::remove_dependency(plans, {0, 0});
  EXPECT_EQ(conflict_of(plans),
            "rank 0: step 1 to rank 1 reads the values from 0 to 0, step 1 from rank 1 writes "
            "them, and neither waits for the other");
}

TEST(PlanOrder, ReadersNeedNone) {
  auto ranks = builders(3);
  ranks[0].send(1, kFirst);
  ranks[0].send(2, kFirst);
  ranks[1].receive(0, kFirst);
  ranks[2].receive(0, kFirst);
  EXPECT_EQ(conflict_of(built(ranks)), "");
}

// Each rank receives after its send. In place, a send ends only when the other rank has received.
TEST(PlanOrder, WaitsForEverIfMemoryIsReadInPlace) {
  auto ranks = builders(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    ranks[rank].send(1 - rank, kFirst);
    ranks[rank].receive(1 - rank, kSecond);
  }
  auto plans = built(ranks);
  EXPECT_EQ(wait_of(plans), "");
  set_after(plans[0], 1, {.lane = 0, .count = 1});
  EXPECT_EQ(wait_of(plans), "");
  set_after(plans[1], 1, {.lane = 0, .count = 1});
  EXPECT_THAT(wait_of(plans), HasSubstr("waits for ever in step 1"));
}

TEST(PlanOrder, WaitsForEverIfRanksReceiveFirst) {
  auto ranks = builders(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    ranks[rank].receive(1 - rank, kFirst);
    ranks[rank].send(1 - rank, kFirst);
  }
  EXPECT_THAT(wait_of(built(ranks)), HasSubstr("waits for ever in step 1"));
}

// Overlapping parts of places conflict.
TEST(PlanConflicts, AreSeenInPartsOfPlaces) {
  auto ranks = builders(2);
  ranks[0].receive(1, {Buffer::kValues, {0, 10}});
  ranks[0].copy({Buffer::kInput, {0, 4}}, {Buffer::kValues, {9, 4}});
  ranks[1].send(0, {Buffer::kValues, {0, 10}});
  auto plans = built(ranks);
  testing::remove_dependency(plans, {0, 0});
  EXPECT_THAT(conflict_of(plans), HasSubstr("the values from 9 to 9"));
}

// An encoding touches three places: the values, their code and the feedback.
TEST(PlanConflicts, AreSeenInWhatAnEncodingLoses) {
  auto ranks = builders(2);
  ranks[0].encode({Buffer::kValues, {0, 16}}, false);
  ranks[0].receive(1, {Buffer::kFeedback, {15, 1}});
  ranks[1].send(0, kFirst);
  EXPECT_THAT(conflict_of(built(ranks)), HasSubstr("the feedback from 15 to 15"));
}

TEST(PlanConflicts, NameWhatLeavesTooEarly) {
  const PlanRequest ring{{.collective = Collective::kAllReduce, .count = 64}, 0, 4};
  EXPECT_EQ(conflict_without(ring, {0, 0}),
            "rank 0: step 2 to rank 1 reads the values from 32 to 47, step 1 from rank 3 writes "
            "them, and neither waits for the other");
}

TEST(PlanConflicts, NameWhatIsOverwrittenTooEarly) {
  const PlanRequest hub{
      {.collective = Collective::kAllReduce, .algorithm = Algorithm::kHub, .count = 48}, 0, 3};
  EXPECT_EQ(conflict_without(hub, {1, 0}),
            "rank 1: step 1 to rank 0 reads the values from 0 to 47, step 1 from rank 0 writes "
            "them, and neither waits for the other");
}

TEST(PlanConflicts, NameWhatIsCodedTooEarly) {
  const PlanRequest ring{
      {.collective = Collective::kAllReduce, .count = 48, .codec = Codec::kFloat16}, 0, 3};
  EXPECT_THAT(conflict_without(ring, {0, 0}), HasSubstr("what is coded from 32 to 47"));
}

TEST(PlanConflicts, NameWhoLeavesABarrierTooEarly) {
  const PlanRequest barrier{
      {.collective = Collective::kBarrier, .algorithm = Algorithm::kDissemination}, 0, 4};
  EXPECT_EQ(conflict_without(barrier, {1, 0}), "rank 3 may leave without word of rank 0");
}

TEST(RedundantDependencies, AreThoseThatFollowFromOthers) {
  const PlanRequest request{{.collective = Collective::kAllReduce, .count = 64}, 0, 4};
  const auto requests = testing::for_each_rank(request);
  auto plans = testing::plans_of(requests);
  EXPECT_TRUE(testing::redundant_dependencies(plans, requests).empty());
  // In the plan, the second step to rank 3 waits for the first step from rank 1. The test makes the
  // third step wait for that step too, which is redundant.
  Plan& plan = plans[2];
  const After first = plan.afters[plan.steps[1].first_after];
  auto& third = plan.steps[2];
  ASSERT_EQ(third.after_count, 1U);
  const After second = std::exchange(plan.afters[third.first_after], {});
  third.first_after = static_cast<std::uint32_t>(plan.afters.size());
  third.after_count = 2;
  plan.afters.insert(plan.afters.end(), {second, first});
  const auto redundant = testing::redundant_dependencies(plans, requests);
  ASSERT_EQ(redundant.size(), 1U);
  EXPECT_EQ(redundant[0].rank, 2U);
  EXPECT_EQ(redundant[0].row, plan.afters.size() - 1);
}

}  // namespace
}  // namespace rota
