// Every plan is right for every world. Each element gets what the collective promises (for sums:
// each rank's contribution exactly once), in whatever order the steps run. No step waits for ever.
// Most counts are not multiples of the world size.
#include <gtest/gtest.h>

#include <numeric>

#include "collectives/every_request.h"
#include "testing/plan_prover.h"

namespace rota {
namespace {

using collectives::Algorithm;
using collectives::Collective;
using collectives::Plan;
using collectives::PlanRequest;

// The last count is larger than 16 n, so each chunk of an all-reduce has elements. The last chunk
// has fewer elements than the others.
std::vector<std::size_t> awkward_counts(std::size_t n) {
  return {0, 1, n - 1, n, n + 1, 211, 16 * n + 1};
}

void prove(const std::vector<PlanRequest>& requests) {
  const auto flaw = testing::find_flaw(testing::plans_of(requests), requests);
  ASSERT_FALSE(flaw) << testing::describe(requests.front()) << ": " << *flaw;
}

class PlanProofTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  std::size_t n() const { return GetParam(); }

  PlanRequest request_of(Collective collective, Algorithm algorithm) const {
    PlanRequest request{{.collective = collective, .algorithm = algorithm}, 0, n()};
    if (algorithm == Algorithm::kChain) request.element_bytes = testing::kChainElementBytes;
    return request;
  }

  void prove_ways(const PlanRequest& request) {
    testing::for_each_way(request, [](const PlanRequest& way) {
      if (!HasFatalFailure()) prove(testing::for_each_rank(way));
    });
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

  void prove_on_all_hosts(PlanRequest request) {
    for (std::size_t kind = 0; kind < testing::kHostsKinds; ++kind) {
      const auto hosts = testing::hosts_of(kind, n());
      request.hosts = hosts;
      ASSERT_NO_FATAL_FAILURE(prove_all_counts(request)) << "hosts of kind " << kind;
    }
  }

  // Proves a request with uneven parts: rank r has a part of 3 (r mod 5) elements, so some ranks
  // have no elements.
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
// A chunk of more than 64 Ki elements travels in pieces. Here each chunk has two pieces.
TEST(PlanProof, CodedRingAllReduceInPieces) {
  for (const std::size_t n : {2, 3, 4}) {
    testing::for_each_way({{.collective = Collective::kAllReduce,
                            .algorithm = Algorithm::kRing,
                            .count = n * (64 * 1024 + 17),
                            .codec = Codec::kFloat16,
                            .feeds_back = true},
                           0,
                           n},
                          [](const PlanRequest& way) { prove(testing::for_each_rank(way)); });
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

TEST_P(PlanProofTest, TwoLevelAllReduce) {
  prove_on_all_hosts(request_of(Collective::kAllReduce, Algorithm::kTwoLevel));
}

TEST_P(PlanProofTest, ByHostAllReduce) {
  prove_on_all_hosts(request_of(Collective::kAllReduce, Algorithm::kByHost));
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

TEST_P(PlanProofTest, ChainAndTreeBroadcast) {
  for (const Algorithm algorithm : {Algorithm::kChain, Algorithm::kTree}) {
    ASSERT_NO_FATAL_FAILURE(prove_all_roots(Collective::kBroadcast, algorithm));
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
  prove_ways(request_of(Collective::kBarrier, Algorithm::kDissemination));
}

// The channels cannot access the values, so messages go through segments. A segment of 3 elements
// cuts most messages into several parts, and most last parts are shorter.
class StagedPlanProofTest : public PlanProofTest {};

TEST_P(StagedPlanProofTest, OfEveryKind) {
  testing::for_every_kind(n(), [](PlanRequest way) {
    way.segment_count = 3;
    if (!HasFatalFailure()) prove(testing::for_each_rank(way));
  });
}

// What is coded is in the host's memory, so its messages need no segments.
TEST_P(StagedPlanProofTest, WithACodec) {
  testing::for_every_coded_kind(n(), [](PlanRequest way) {
    way.segment_count = 3;
    if (!HasFatalFailure()) prove(testing::for_each_rank(way));
    for (const Plan& plan : testing::plans_of(testing::for_each_rank(way))) {
      ASSERT_EQ(plan.staging_count, 0U);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, StagedPlanProofTest, ::testing::Values(1, 2, 3, 5, 8),
                         ::testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(Worlds, PlanProofTest, ::testing::Range<std::size_t>(1, 65),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace rota
