// The chain: the values travel along the ring in pieces, and a rank passes a piece on while the
// next one arrives. For large values it takes little longer than one copy, whatever the world size.
#include "base/assert.h"
#include "collectives/algorithms.h"

namespace rota::collectives {
namespace {

Plan broadcast(const PlanRequest& request) {
  const std::size_t n = request.world_size;
  const std::size_t position = (request.rank + n - request.root) % n;  // The root's is 0.
  PlanBuilder plan(request.rank);
  for (const Slice& piece : cut({0, request.count}, n)) {
    if (position > 0) plan.receive((request.rank + n - 1) % n, values_at(piece));
    if (position + 1 < n) plan.send((request.rank + 1) % n, values_at(piece));
  }
  return plan.build();
}

// The same way round, so that the root is last: terms are added in the order root + 1, …, root.
Plan reduce(const PlanRequest& request) {
  const std::size_t n = request.world_size;
  const std::size_t position = (request.rank + n - request.root + n - 1) % n;  // The root's: n - 1.
  const bool is_root = position + 1 == n;
  PlanBuilder plan(request.rank);
  // Away from the root there may be no values to add to.
  const bool borrows = !request.in_place && !is_root;
  const bool only_sends = borrows && position == 0 && !request.pre_scales;
  const Place sum = borrows && !only_sends ? plan.scratch(request.count) : Place{};
  for (const Slice& piece : cut({0, request.count}, n)) {
    Place place = values_at(piece);
    if (only_sends) {
      place = input_at(piece);
    } else if (borrows) {
      place = {Buffer::kScratch, {sum.slice.offset + piece.offset, piece.count}};
      plan.copy(input_at(piece), place);
      if (request.pre_scales) plan.pre_scale(place);
    } else {
      contribute(plan, request, piece);
    }
    if (position > 0) plan.reduce((request.rank + n - 1) % n, place, is_root);
    if (!is_root) plan.send((request.rank + 1) % n, place);
  }
  return plan.build();
}

}  // namespace

Plan chain_plan(const PlanRequest& request) {
  if (request.collective == Collective::kReduce) return reduce(request);
  ROTA_ASSERT(request.collective == Collective::kBroadcast);
  return broadcast(request);
}

}  // namespace rota::collectives
