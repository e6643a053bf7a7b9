// The star: rank 0 takes everybody's values, adds them in rank order and hands the result out, as a
// parameter server does. Its link carries 2 (n - 1) times the values: what the ring is there to
// replace, kept so that the difference can be seen.
#include "base/assert.h"
#include "collectives/algorithms.h"

namespace rota::collectives {

Plan star_plan(const PlanRequest& request) {
  ROTA_ASSERT(request.collective == Collective::kAllReduce);
  constexpr std::size_t kServer = 0;
  const Place whole = values_at({0, request.count});
  PlanBuilder plan(request.rank);
  contribute(plan, request, whole.slice);
  if (request.rank != kServer) {
    plan.send(kServer, whole);
    plan.receive(kServer, whole);
    return plan.build();
  }
  for (std::size_t worker = 1; worker < request.world_size; ++worker) {
    plan.reduce(worker, whole, worker + 1 == request.world_size);
  }
  for (std::size_t worker = 1; worker < request.world_size; ++worker) plan.send(worker, whole);
  return plan.build();
}

}  // namespace rota::collectives
