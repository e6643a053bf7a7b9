// The prover rejects wrong plans: it names the flaw of each damaged plan. There is one such plan
// for each kind of flaw.
#include "testing/plan_prover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/every_request.h"
#include "testing/plan_conflicts.h"
#include "testing/plan_order.h"

namespace rota {
namespace {

using collectives::Algorithm;
using collectives::Buffer;
using collectives::Collective;
using collectives::Lane;
using collectives::Plan;
using collectives::PlanRequest;
using collectives::Step;
using collectives::Verb;
using ::testing::HasSubstr;

// The plans of a request, ready to be damaged. There are four ranks and 64 elements, so each chunk
// has 16 elements.
class SpoiltPlan {
 public:
  explicit SpoiltPlan(PlanRequest request) {
    request.world_size = 4;
    if (request.collective != Collective::kBarrier) request.count = 64;
    requests = testing::for_each_rank(request);
    plans = testing::plans_of(requests);
  }

  std::string flaw() const { return testing::find_flaw(plans, requests).value_or(""); }

  Lane& lane(std::size_t rank, Lane::Kind kind, std::size_t peer) {
    return *std::ranges::find_if(plans[rank].lanes, [&](const Lane& lane) {
      return lane.kind == kind && lane.peer == peer;
    });
  }
  // Steps count from 1, as in the messages of the prover.
  Step& to(std::size_t rank, std::size_t peer, std::size_t step) {
    return step_of(rank, Lane::Kind::kSends, peer, step);
  }
  Step& from(std::size_t rank, std::size_t peer, std::size_t step) {
    return step_of(rank, Lane::Kind::kReceives, peer, step);
  }
  Step& local(std::size_t rank, std::size_t step) {
    return step_of(rank, Lane::Kind::kLocal, rank, step);
  }

  std::vector<PlanRequest> requests;
  std::vector<Plan> plans;

 private:
  Step& step_of(std::size_t rank, Lane::Kind kind, std::size_t peer, std::size_t step) {
    return plans[rank].steps[lane(rank, kind, peer).first_step + step - 1];
  }
};

SpoiltPlan ring() { return SpoiltPlan({{.collective = Collective::kAllReduce}}); }
SpoiltPlan coded_ring() {
  return SpoiltPlan(
      {{.collective = Collective::kAllReduce, .codec = Codec::kFloat16, .feeds_back = true}});
}
SpoiltPlan direct(bool in_place) {
  return SpoiltPlan({{.collective = Collective::kAllReduce,
                      .algorithm = Algorithm::kDirect,
                      .in_place = in_place}});
}

TEST(PlanProver, HasNothingAgainstRightPlans) {
  EXPECT_EQ(ring().flaw(), "");
  EXPECT_EQ(coded_ring().flaw(), "");
  EXPECT_EQ(direct(true).flaw(), "");
  EXPECT_EQ(direct(false).flaw(), "");
}

TEST(PlanProver, SeesAStepThatLeavesItsBuffer) {
  auto plan = ring();
  plan.to(1, 2, 1).at.slice.offset = 49;
  EXPECT_EQ(plan.flaw(), "rank 1 leaves a buffer");
}

TEST(PlanProver, SeesAnInputThatIsWritten) {
  auto plan = direct(false);
  plan.from(2, 3, 1).at.buffer = Buffer::kInput;
  EXPECT_EQ(plan.flaw(), "rank 2 writes to its input");
}

TEST(PlanProver, SeesACopyOntoItself) {
  auto plan = SpoiltPlan({{.collective = Collective::kAllGather, .in_place = false}});
  plan.local(0, 1).from = {Buffer::kValues, {8, 16}};
  EXPECT_EQ(plan.flaw(), "rank 0 copies or adds in one place");
}

TEST(PlanProver, SeesAMissingReceive) {
  auto plan = ring();
  --plan.lane(2, Lane::Kind::kReceives, 1).step_count;
  EXPECT_EQ(plan.flaw(),
            "rank 1 waits for ever in step 6 to rank 2, for rank 2, which has no such step");
}

TEST(PlanProver, SeesAMissingSend) {
  auto plan = ring();
  --plan.lane(2, Lane::Kind::kSends, 3).step_count;
  EXPECT_EQ(plan.flaw(),
            "rank 3 waits for ever in step 6 from rank 2, for rank 2, which has no such step");
}

TEST(PlanProver, SeesAPeerThatDoesNotKnowOfIt) {
  auto plan = ring();
  plan.lane(1, Lane::Kind::kReceives, 0).peer = 3;
  EXPECT_EQ(plan.flaw(),
            "rank 0 waits for ever in step 1 to rank 1, for rank 1, which has no such step");
}

TEST(PlanProver, SeesASecondLaneToTheSamePeer) {
  auto plan = ring();
  plan.plans[0].lanes.push_back(plan.lane(0, Lane::Kind::kSends, 1));
  EXPECT_EQ(plan.flaw(),
            "rank 0 waits for ever in step 1 to rank 1, for rank 1, which has no such step");
}

TEST(PlanProver, SeesAWaitForAStepThatThereIsNot) {
  auto plan = ring();
  plan.plans[0].afters.front().count = 7;
  EXPECT_THAT(plan.flaw(), HasSubstr("in step 2 to rank 1, for a step that there is not"));
}

TEST(PlanProver, SeesRanksThatWaitForEachOther) {
  auto plan = ring();
  for (std::size_t rank = 0; rank < 4; ++rank) {  // All ranks receive before they send.
    plan.plans[rank].afters.push_back({.lane = 1, .count = 1});
    Step& first = plan.to(rank, (rank + 1) % 4, 1);
    first.first_after = static_cast<std::uint32_t>(plan.plans[rank].afters.size() - 1);
    first.after_count = 1;
  }
  EXPECT_THAT(plan.flaw(), HasSubstr("waits for ever"));
}

TEST(PlanProver, SeesAMessageOfAnotherLength) {
  auto plan = direct(false);
  --plan.to(3, 0, 1).at.slice.count;
  EXPECT_EQ(plan.flaw(), "rank 0 expects 16 elements from rank 3 and gets 15");
}

TEST(PlanProver, SeesAContributionThatIsLost) {
  auto plan = ring();
  plan.from(1, 0, 2).verb = Verb::kReceive;
  EXPECT_THAT(plan.flaw(), HasSubstr("0 times, not once"));
}

TEST(PlanProver, SeesAContributionThatComesTwice) {
  auto plan = ring();
  plan.from(1, 0, 4).verb = Verb::kReduce;
  EXPECT_THAT(plan.flaw(), HasSubstr("adds the contribution of rank"));
}

TEST(PlanProver, SeesPlacesInAnotherOrder) {
  auto plan = direct(false);
  std::swap(plan.to(3, 0, 1).at, plan.to(3, 1, 1).at);
  EXPECT_THAT(plan.flaw(), HasSubstr("adds elements that do not belong together"));
}

TEST(PlanProver, SeesAForgottenScale) {
  auto plan = ring();
  for (Step& step : plan.plans[0].steps) step.last = false;
  EXPECT_THAT(plan.flaw(), HasSubstr("ends scaled 0 times"));
}

TEST(PlanProver, SeesAContributionThatIsNotPreScaled) {
  PlanRequest pre_scaled{{.collective = Collective::kAllReduce}};
  pre_scaled.pre_scales = true;
  auto plan = SpoiltPlan(pre_scaled);
  plan.local(2, 1).at.slice.count = 15;
  EXPECT_THAT(plan.flaw(), HasSubstr("adds what was pre-scaled in part"));
}

TEST(PlanProver, SeesAPartThatIsEncodedAsTheWhole) {
  auto plan = coded_ring();
  plan.local(1, 2).last = true;
  EXPECT_EQ(plan.flaw(), "rank 1 takes a part for the whole, or the whole for a part");
}

TEST(PlanProver, SeesValuesThatAreTakenForWhatIsCoded) {
  auto plan = coded_ring();
  Step& own_chunk = plan.local(0, 12);
  ASSERT_EQ(own_chunk.verb, Verb::kDecode);
  own_chunk.from.buffer = Buffer::kFeedback;
  EXPECT_EQ(plan.flaw(), "rank 0 takes values for what is coded, or the other way round");
}

TEST(PlanProver, SeesAPlaceThatBeginsWithinAGrain) {
  auto plan = coded_ring();
  for (Step* step : {&plan.to(0, 1, 1), &plan.from(1, 0, 1)}) {
    ASSERT_EQ(step->at.buffer, Buffer::kCoded);
    ++step->at.slice.offset;
    --step->at.slice.count;
  }
  EXPECT_THAT(plan.flaw(), HasSubstr("begins within a grain of what is coded"));
}

TEST(PlanProver, SeesALossThatIsFedBackInPart) {
  auto plan = coded_ring();
  plan.local(1, 1).from.slice.count = plan.local(1, 1).at.slice.count = 15;
  EXPECT_THAT(plan.flaw(), HasSubstr("adds what was fed back to in part"));
}

TEST(PlanProver, SeesARankThatKeepsWhatItHasNotSent) {
  auto plan = coded_ring();
  Step& own_chunk = plan.local(0, 12);
  ASSERT_EQ(own_chunk.verb, Verb::kDecode);
  own_chunk.at.slice.count = own_chunk.from.slice.count = 15;
  EXPECT_EQ(plan.flaw(), "rank 0 ends with what was not encoded in element 15");
}

}  // namespace
}  // namespace rota
