// Every plan is right for every world: each element gets each rank's contribution exactly once, all
// ranks end equal, and no step waits for ever.
// Method: the plans run symbolically, with messages that are copies and with messages that are the
// sender's memory, in several random orders. Counts are awkward for the world in question.
#include <gtest/gtest.h>

#include "testing/plan_prover.h"

namespace rota {
namespace {

using collectives::Algorithm;
using collectives::Collective;
using collectives::Plan;
using collectives::PlanRequest;
using testing::find_flaw;
using testing::ProofOptions;

std::vector<Plan> plans_of(PlanRequest request) {
  std::vector<Plan> plans;
  for (request.rank = 0; request.rank < request.world_size; ++request.rank) {
    plans.push_back(collectives::make_plan(request));
  }
  return plans;
}

std::vector<std::size_t> awkward_counts(std::size_t n) {
  // Beyond 16 n every chunk of an all-reduce has elements, the last one fewer.
  return {0, 1, n - 1, n, n + 1, 1009, 16 * n + 1};
}

void prove(PlanRequest request) {
  const auto plans = plans_of(request);
  for (const auto wire : {ProofOptions::Wire::kBuffered, ProofOptions::Wire::kInPlace}) {
    for (const std::uint64_t seed : {1, 2}) {
      const auto flaw = find_flaw(plans, request, {wire, seed});
      ASSERT_FALSE(flaw) << to_string(request.collective) << " by " << to_string(request.algorithm)
                         << ", world " << request.world_size << ", count " << request.count
                         << ", root " << request.root << ", seed " << seed << ": " << *flaw;
    }
  }
}

class PlanProofTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  void prove_for_all_counts(Collective collective, Algorithm algorithm, std::size_t root = 0) {
    for (const std::size_t count : awkward_counts(GetParam())) {
      prove({.collective = collective,
             .algorithm = algorithm,
             .rank = 0,
             .world_size = GetParam(),
             .count = count,
             .root = root});
    }
  }
};

TEST_P(PlanProofTest, RingAllReduce) {
  prove_for_all_counts(Collective::kAllReduce, Algorithm::kRing);
}
TEST_P(PlanProofTest, StarAllReduce) {
  prove_for_all_counts(Collective::kAllReduce, Algorithm::kStar);
}
TEST_P(PlanProofTest, RingReduceScatter) {
  prove_for_all_counts(Collective::kReduceScatter, Algorithm::kRing);
}
TEST_P(PlanProofTest, RingAllGather) {
  prove_for_all_counts(Collective::kAllGather, Algorithm::kRing);
}
TEST_P(PlanProofTest, ChainBroadcastFromFirstMiddleAndLast) {
  for (const std::size_t root : {std::size_t{0}, GetParam() / 2, GetParam() - 1}) {
    prove_for_all_counts(Collective::kBroadcast, Algorithm::kChain, root);
  }
}
TEST_P(PlanProofTest, DisseminationBarrier) {
  prove({.collective = Collective::kBarrier,
         .algorithm = Algorithm::kDissemination,
         .rank = 0,
         .world_size = GetParam(),
         .count = 0,
         .root = 0});
}

INSTANTIATE_TEST_SUITE_P(Worlds, PlanProofTest, ::testing::Range<std::size_t>(1, 65));

// The prover itself must be able to say no.
class ProverTest : public ::testing::Test {
 protected:
  PlanRequest request_{.collective = Collective::kAllReduce,
                       .algorithm = Algorithm::kRing,
                       .rank = 0,
                       .world_size = 4,
                       .count = 64,
                       .root = 0};
  std::vector<Plan> plans_ = plans_of(request_);

  std::string flaw() {
    return find_flaw(plans_, request_, {ProofOptions::Wire::kInPlace, 3}).value_or("");
  }
};

TEST_F(ProverTest, SeesAMissingStep) {
  --plans_[2].lanes[1].step_count;
  EXPECT_NE(flaw().find("waits for ever"), std::string::npos) << flaw();
}

TEST_F(ProverTest, SeesAContributionThatIsLost) {
  for (auto& step : plans_[1].steps)
    step.verb = step.verb == collectives::Verb::kReduce ? collectives::Verb::kReceive : step.verb;
  EXPECT_NE(flaw().find("0 times"), std::string::npos) << flaw();
}

TEST_F(ProverTest, SeesChunksInAnotherOrder) {
  std::swap(plans_[3].steps[0].chunk, plans_[3].steps[1].chunk);
  EXPECT_NE(flaw().find("gets chunk"), std::string::npos) << flaw();
}

TEST_F(ProverTest, SeesAChunkThatLeavesTooEarly) {
  for (auto& step : plans_[0].steps) step.after_count = 0;
  int caught = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    caught += find_flaw(plans_, request_, {ProofOptions::Wire::kBuffered, seed}).has_value();
  }
  EXPECT_GT(caught, 0) << "none of 20 orders showed it";
}

TEST_F(ProverTest, SeesAForgottenScale) {
  for (auto& step : plans_[0].steps) step.last = false;
  EXPECT_NE(flaw().find("scaled 0 times"), std::string::npos) << flaw();
}

TEST_F(ProverTest, SeesAGapBetweenChunks) {
  for (auto& plan : plans_) ++plan.chunks[1].offset;
  EXPECT_NE(flaw().find("gap"), std::string::npos) << flaw();
}

}  // namespace
}  // namespace rota
