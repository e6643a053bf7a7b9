// Dissemination: in round k each rank tells the one 2^k further on that it, and everyone it has
// heard of, has come. After the last round everyone has heard of everyone.
#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "collectives/algorithms.h"

namespace rota::collectives {

Plan dissemination_plan(const PlanRequest& request) {
  ROTA_ASSERT(request.collective == Collective::kBarrier);
  const std::size_t n = request.world_size;
  PlanBuilder plan(request.rank);
  for (std::size_t distance = 1; distance < n; distance *= 2) {
    // Of whom the receiver cannot have heard otherwise, and the rounds that tell the sender of
    // them.
    const std::size_t news = std::min(distance, n - distance);
    plan.send_bare((request.rank + distance) % n, std::bit_width(news - 1));
    plan.receive_bare((request.rank + n - distance) % n);
  }
  return plan.build();
}

}  // namespace rota::collectives
