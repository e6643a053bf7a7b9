// Picks the function that makes a plan, and names things.
#include "collectives/plan.h"

#include "base/assert.h"
#include "collectives/algorithms.h"

namespace rota::collectives {

Plan make_plan(const PlanRequest& request) {
  ROTA_ASSERT(request.rank < request.world_size && request.root < request.world_size);
  switch (request.algorithm) {
    case Algorithm::kRing:
      return ring_plan(request);
    case Algorithm::kStar:
      return star_plan(request);
    case Algorithm::kChain:
      return chain_plan(request);
    case Algorithm::kDissemination:
      return dissemination_plan(request);
  }
  ROTA_ASSERT(false);
}

std::string_view to_string(Collective collective) noexcept {
  switch (collective) {
    case Collective::kAllReduce:
      return "all_reduce";
    case Collective::kReduceScatter:
      return "reduce_scatter";
    case Collective::kAllGather:
      return "all_gather";
    case Collective::kBroadcast:
      return "broadcast";
    case Collective::kBarrier:
      return "barrier";
  }
  return "unknown";
}

std::string_view to_string(Algorithm algorithm) noexcept {
  switch (algorithm) {
    case Algorithm::kRing:
      return "ring";
    case Algorithm::kStar:
      return "star";
    case Algorithm::kChain:
      return "chain";
    case Algorithm::kDissemination:
      return "dissemination";
  }
  return "unknown";
}

std::optional<Algorithm> all_reduce_algorithm(std::string_view name) noexcept {
  for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kStar}) {
    if (name == to_string(algorithm)) return algorithm;
  }
  return std::nullopt;
}

}  // namespace rota::collectives
