// Dissemination: in round k, each rank sends a message to the rank 2^k ahead. The message means
// that the sender, and all ranks that the sender knows about, have arrived. After the last round,
// every rank knows that all ranks have arrived.
#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "collectives/algorithms.h"

namespace rota::collectives {

Plan dissemination_plan(const PlanRequest& request) {
  ROTA_ASSERT(request.collective == Collective::kBarrier);
  const std::size_t n = request.world_size;
  PlanBuilder plan(request);
  for (std::size_t distance = 1; distance < n; distance *= 2) {
    // The number of ranks that the receiver learns about only from this message. bit_width() gives
    // the number of rounds in which the sender learns about them.
    const std::size_t news = std::min(distance, n - distance);
    plan.send_bare((request.rank + distance) % n, std::bit_width(news - 1));
    plan.receive_bare((request.rank + n - distance) % n);
  }
  return plan.build();
}

}  // namespace rota::collectives
