// The ring: every rank talks to its two neighbours only, and all links are busy all the time. Each
// rank sends 2 (n - 1) / n of the values in an all-reduce, whatever n is.
#include <algorithm>

#include "base/assert.h"
#include "collectives/algorithms.h"
#include "collectives/plan_builder.h"

namespace rota::collectives {
namespace {

// Cuts on 16 elements keep two ranks from writing one cache line.
constexpr std::size_t kGrain = 16;

// One chunk a rank. Where the chunks are part of the contract they are slice_of's.
std::vector<Slice> cut(const PlanRequest& request) {
  const std::size_t grain = request.collective == Collective::kAllReduce ? kGrain : 1;
  const std::size_t grains = (request.count + grain - 1) / grain;
  std::vector<Slice> chunks;
  chunks.reserve(request.world_size);
  for (std::size_t i = 0; i < request.world_size; ++i) {
    const Slice slice = slice_of(grains, i, request.world_size);
    const std::size_t first = std::min(slice.offset * grain, request.count);
    const std::size_t last = std::min((slice.offset + slice.count) * grain, request.count);
    chunks.push_back({first, last - first});
  }
  return chunks;
}

}  // namespace

// Chunk c starts its way at rank c + 1, collects one contribution a hop and is complete at rank c.
// So its terms are always added in the order c + 1, c + 2, …, c.
Plan ring_plan(const PlanRequest& request) {
  const std::size_t n = request.world_size;
  const std::size_t next = (request.rank + 1) % n;
  const std::size_t previous = (request.rank + n - 1) % n;
  const auto chunk_behind = [&](std::size_t hops) { return (request.rank + 2 * n - hops) % n; };
  const bool scatters = request.collective != Collective::kAllGather;
  const bool gathers = request.collective != Collective::kReduceScatter;
  ROTA_ASSERT(scatters || gathers);

  PlanBuilder plan(request, cut(request));
  for (std::size_t hop = 1; scatters && hop < n; ++hop) {
    plan.send(next, chunk_behind(hop));
    plan.reduce(previous, chunk_behind(hop + 1), hop + 1 == n);
  }
  for (std::size_t hop = 0; gathers && hop + 1 < n; ++hop) {
    plan.send(next, chunk_behind(hop));
    plan.receive(previous, chunk_behind(hop + 1));
  }
  return plan.build();
}

}  // namespace rota::collectives
