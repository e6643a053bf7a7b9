// The star: rank 0 receives all ranks' values, adds them in rank order and sends out the result, as
// a parameter server does. The link of rank 0 carries 2 (n - 1) times the values. The ring replaces
// the star, which is kept to show the difference.
#include "base/assert.h"
#include "collectives/algorithms.h"

namespace rota::collectives {

Plan star_plan(const PlanRequest& request) {
  ROTA_ASSERT(request.collective == Collective::kAllReduce);
  constexpr std::size_t kServer = 0;
  const Place whole = values_at({0, request.count});
  PlanBuilder plan(request);
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
