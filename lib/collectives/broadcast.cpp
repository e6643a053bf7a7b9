// The chain: the root's values travel along the ring, and a rank passes a chunk on while the next
// one arrives. For large values it takes little longer than one copy, whatever the world size.
#include "base/assert.h"
#include "collectives/algorithms.h"
#include "collectives/plan_builder.h"

namespace rota::collectives {

Plan chain_plan(const PlanRequest& request) {
  ROTA_ASSERT(request.collective == Collective::kBroadcast);
  const std::size_t n = request.world_size;
  std::vector<Slice> chunks;
  for (std::size_t i = 0; i < n; ++i) chunks.push_back(slice_of(request.count, i, n));

  const std::size_t position = (request.rank + n - request.root) % n;  // The root's is 0.
  PlanBuilder plan(request, std::move(chunks));
  for (std::size_t chunk = 0; chunk < n; ++chunk) {
    if (position > 0) plan.receive((request.rank + n - 1) % n, chunk);
    if (position + 1 < n) plan.send((request.rank + 1) % n, chunk);
  }
  return plan.build();
}

}  // namespace rota::collectives
