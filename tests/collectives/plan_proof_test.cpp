// Every plan is right for every world: each element gets what the collective promises (for sums:
// each rank's contribution exactly once), and no step waits for ever.
// Method: the plans run symbolically, with messages that are copies and with messages that are the
// sender's memory, in random orders. Counts are awkward for the world in question.
#include <gtest/gtest.h>

#include <numeric>

#include "testing/plan_prover.h"

namespace rota {
namespace {

using collectives::Algorithm;
using collectives::Collective;
using collectives::Plan;
using collectives::PlanRequest;
using testing::find_flaw;
using testing::ProofOptions;

std::vector<Plan> plans_of(const std::vector<PlanRequest>& requests) {
  std::vector<Plan> plans;
  for (const PlanRequest& request : requests) plans.push_back(collectives::make_plan(request));
  return plans;
}

std::vector<PlanRequest> for_each_rank(PlanRequest request) {
  std::vector<PlanRequest> requests;
  for (request.rank = 0; request.rank < request.world_size; ++request.rank) {
    requests.push_back(request);
  }
  return requests;
}

// Beyond 16 n every chunk of an all-reduce has elements, the last one fewer. What is wrong at a
// large world only is wrong for most counts.
std::vector<std::size_t> awkward_counts(std::size_t n) {
  if (n > 16) return {1, n + 1, 16 * n + 1};
  return {0, 1, n - 1, n, n + 1, 211, 16 * n + 1};
}

void prove(const std::vector<PlanRequest>& requests) {
  const auto plans = plans_of(requests);
  const PlanRequest& first = requests.front();
  for (const auto wire : {ProofOptions::Wire::kBuffered, ProofOptions::Wire::kInPlace}) {
    const std::uint64_t seed = first.count + first.world_size;
    const auto flaw = find_flaw(plans, requests, {wire, seed});
    ASSERT_FALSE(flaw) << to_string(first.collective) << " by " << to_string(first.algorithm)
                       << ", world " << first.world_size << ", count " << first.count << ", root "
                       << first.root << (first.in_place ? ", in place" : "")
                       << (first.pre_scales ? ", pre-scaled" : "")
                       << (first.feeds_back ? ", fed back" : "") << ", seed " << seed << ": "
                       << *flaw;
  }
}

class PlanProofTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  std::size_t n() const { return GetParam(); }

  PlanRequest request_of(Collective collective, Algorithm algorithm) const {
    return {.collective = collective, .algorithm = algorithm, .world_size = n()};
  }

  // In place and out of place, and where it reduces also pre-scaled.
  void prove_ways(PlanRequest request) {
    for (const bool in_place : {true, false}) {
      for (const bool pre_scales : {false, true}) {
        if (pre_scales && !collectives::reduces(request.collective)) continue;
        if (n() > 16 && pre_scales != in_place) continue;
        request.in_place = in_place;
        request.pre_scales = pre_scales;
        ASSERT_NO_FATAL_FAILURE(prove(for_each_rank(request)));
      }
    }
  }

  void prove_all_counts(PlanRequest request) {
    for (const std::size_t count : awkward_counts(n())) {
      request.count = count;
      ASSERT_NO_FATAL_FAILURE(prove_ways(request));
    }
  }

  void prove_all_counts(Collective collective, Algorithm algorithm) {
    prove_all_counts(request_of(collective, algorithm));
  }

  void prove_all_roots(Collective collective, Algorithm algorithm) {
    for (const std::size_t root : {std::size_t{0}, n() / 2, n() - 1}) {
      PlanRequest request = request_of(collective, algorithm);
      request.root = root;
      ASSERT_NO_FATAL_FAILURE(prove_all_counts(request));
    }
  }

  // Rank r has a part of r mod 5 elements: some have none.
  void prove_uneven_parts(PlanRequest request) {
    std::vector<std::size_t> counts(n());
    for (std::size_t rank = 0; rank < n(); ++rank) counts[rank] = rank % 5 * 3;
    request.counts = counts;
    request.count = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    prove_ways(request);
  }
};

TEST_P(PlanProofTest, RingAllReduce) { prove_all_counts(Collective::kAllReduce, Algorithm::kRing); }
TEST_P(PlanProofTest, CodedRingAllReduce) {
  PlanRequest request = request_of(Collective::kAllReduce, Algorithm::kRing);
  request.codec = Codec::kFloat16;
  for (const bool feeds_back : {false, true}) {
    request.feeds_back = feeds_back;
    ASSERT_NO_FATAL_FAILURE(prove_all_counts(request));
  }
}
TEST_P(PlanProofTest, DirectAllReduce) {
  prove_all_counts(Collective::kAllReduce, Algorithm::kDirect);
}
TEST_P(PlanProofTest, HalvingDoublingAllReduce) {
  prove_all_counts(Collective::kAllReduce, Algorithm::kHalvingDoubling);
}
TEST_P(PlanProofTest, TreeAllReduce) { prove_all_counts(Collective::kAllReduce, Algorithm::kTree); }
TEST_P(PlanProofTest, HubAllReduce) { prove_all_counts(Collective::kAllReduce, Algorithm::kHub); }
TEST_P(PlanProofTest, StarAllReduce) { prove_all_counts(Collective::kAllReduce, Algorithm::kStar); }

// One host, a host each, pairs, and hosts of unequal sizes whose ranks are not neighbours.
TEST_P(PlanProofTest, TwoLevelAllReduce) {
  for (const std::size_t kind : {0, 1, 2, 3}) {
    std::vector<std::size_t> hosts(n());
    for (std::size_t rank = 0; rank < n(); ++rank) {
      hosts[rank] = kind == 0 ? 7 : kind == 1 ? rank : kind == 2 ? rank / 2 : rank * rank % 3;
    }
    PlanRequest request = request_of(Collective::kAllReduce, Algorithm::kTwoLevel);
    request.hosts = hosts;
    ASSERT_NO_FATAL_FAILURE(prove_all_counts(request)) << "hosts of kind " << kind;
  }
}

TEST_P(PlanProofTest, RingReduceScatter) {
  prove_all_counts(Collective::kReduceScatter, Algorithm::kRing);
  prove_uneven_parts(request_of(Collective::kReduceScatter, Algorithm::kRing));
}
TEST_P(PlanProofTest, DirectReduceScatter) {
  prove_all_counts(Collective::kReduceScatter, Algorithm::kDirect);
  prove_uneven_parts(request_of(Collective::kReduceScatter, Algorithm::kDirect));
}
TEST_P(PlanProofTest, RingAllGather) {
  prove_all_counts(Collective::kAllGather, Algorithm::kRing);
  prove_uneven_parts(request_of(Collective::kAllGather, Algorithm::kRing));
}
TEST_P(PlanProofTest, DirectAllGather) {
  prove_all_counts(Collective::kAllGather, Algorithm::kDirect);
  prove_uneven_parts(request_of(Collective::kAllGather, Algorithm::kDirect));
}

TEST_P(PlanProofTest, ChainReduce) { prove_all_roots(Collective::kReduce, Algorithm::kChain); }
TEST_P(PlanProofTest, TreeReduce) { prove_all_roots(Collective::kReduce, Algorithm::kTree); }

// The values are given and taken: there is no input.
TEST_P(PlanProofTest, ChainAndTreeBroadcast) {
  for (const Algorithm algorithm : {Algorithm::kChain, Algorithm::kTree}) {
    for (const std::size_t root : {std::size_t{0}, n() / 2, n() - 1}) {
      for (const std::size_t count : awkward_counts(n())) {
        PlanRequest request = request_of(Collective::kBroadcast, algorithm);
        request.root = root;
        request.count = count;
        ASSERT_NO_FATAL_FAILURE(prove(for_each_rank(request)));
      }
    }
  }
}

TEST_P(PlanProofTest, DirectGatherAndScatter) {
  for (const Collective collective : {Collective::kGather, Collective::kScatter}) {
    ASSERT_NO_FATAL_FAILURE(prove_all_roots(collective, Algorithm::kDirect));
    PlanRequest request = request_of(collective, Algorithm::kDirect);
    request.root = n() / 2;
    ASSERT_NO_FATAL_FAILURE(prove_uneven_parts(request));
  }
}

TEST_P(PlanProofTest, DirectAllToAll) {
  for (const std::size_t part : {0, 1, 3}) {
    PlanRequest request = request_of(Collective::kAllToAll, Algorithm::kDirect);
    request.count = part * n();
    ASSERT_NO_FATAL_FAILURE(prove_ways(request));
  }
}

// Rank r sends (r + 2 p) mod 4 elements to rank p.
TEST_P(PlanProofTest, DirectAllToAllOfUnevenParts) {
  std::vector<std::vector<std::size_t>> sent(n(), std::vector<std::size_t>(n()));
  std::vector<std::vector<std::size_t>> received = sent;
  std::vector<PlanRequest> requests;
  for (std::size_t rank = 0; rank < n(); ++rank) {
    for (std::size_t peer = 0; peer < n(); ++peer) {
      sent[rank][peer] = (rank + 2 * peer) % 4;
      received[rank][peer] = (peer + 2 * rank) % 4;
    }
    PlanRequest request = request_of(Collective::kAllToAll, Algorithm::kDirect);
    request.rank = rank;
    request.in_place = false;
    request.counts = sent[rank];
    request.receive_counts = received[rank];
    request.count = std::accumulate(sent[rank].begin(), sent[rank].end(), std::size_t{0});
    requests.push_back(request);
  }
  prove(requests);
}

TEST_P(PlanProofTest, DisseminationBarrier) {
  prove(for_each_rank(request_of(Collective::kBarrier, Algorithm::kDissemination)));
}

INSTANTIATE_TEST_SUITE_P(Worlds, PlanProofTest, ::testing::Range<std::size_t>(1, 65));

// The prover itself must be able to say no.
class ProverTest : public ::testing::Test {
 protected:
  std::vector<PlanRequest> requests_ =
      for_each_rank({.collective = Collective::kAllReduce, .world_size = 4, .count = 64});
  std::vector<Plan> plans_ = plans_of(requests_);

  std::string flaw() {
    return find_flaw(plans_, requests_, {ProofOptions::Wire::kInPlace, 3}).value_or("");
  }
};

TEST_F(ProverTest, HasNothingAgainstARightPlan) { EXPECT_EQ(flaw(), ""); }

TEST_F(ProverTest, SeesAMissingStep) {
  --plans_[2].lanes[1].step_count;
  EXPECT_NE(flaw().find("waits for ever"), std::string::npos) << flaw();
}

TEST_F(ProverTest, SeesAContributionThatIsLost) {
  for (auto& step : plans_[1].steps)
    step.verb = step.verb == collectives::Verb::kReduce ? collectives::Verb::kReceive : step.verb;
  EXPECT_NE(flaw().find("0 times"), std::string::npos) << flaw();
}

TEST_F(ProverTest, SeesPlacesInAnotherOrder) {
  std::swap(plans_[3].steps[0].at, plans_[3].steps[1].at);
  const auto flaw = find_flaw(plans_, requests_, {ProofOptions::Wire::kBuffered, 3}).value_or("");
  EXPECT_NE(flaw.find("do not belong together"), std::string::npos) << flaw;
}

TEST_F(ProverTest, SeesAMessageOfAnotherLength) {
  --plans_[3].steps[0].at.slice.count;
  EXPECT_NE(flaw().find("expects 16 elements from rank 3 and gets 15"), std::string::npos)
      << flaw();
}

TEST_F(ProverTest, SeesElementsThatLeaveTooEarly) {
  for (auto& step : plans_[0].steps) step.after_count = 0;
  int caught = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    caught += find_flaw(plans_, requests_, {ProofOptions::Wire::kBuffered, seed}).has_value();
  }
  EXPECT_GT(caught, 0) << "none of 20 orders showed it";
}

TEST_F(ProverTest, SeesAForgottenScale) {
  for (auto& step : plans_[0].steps) step.last = false;
  EXPECT_NE(flaw().find("scaled 0 times"), std::string::npos) << flaw();
}

TEST_F(ProverTest, SeesAStepThatLeavesItsBuffer) {
  plans_[1].steps[0].at.slice.offset = 49;
  EXPECT_NE(flaw().find("leaves a buffer"), std::string::npos) << flaw();
}

TEST_F(ProverTest, SeesAnInputThatIsWritten) {
  for (PlanRequest& request : requests_) request.in_place = false;
  plans_ = plans_of(requests_);
  for (auto& step : plans_[2].steps) {
    if (step.verb == collectives::Verb::kReduce) step.at.buffer = collectives::Buffer::kInput;
  }
  EXPECT_NE(flaw().find("writes to its input"), std::string::npos) << flaw();
}

}  // namespace
}  // namespace rota
