// The chain: the values travel along the ring in pieces, and a rank passes a piece on while the
// next piece arrives. The first piece is passed on n - 2 times before the last rank has it. So the
// collective takes as long as to send all values once, and then n - 2 more pieces. With up to 66
// ranks, these n - 2 pieces are at most a sixteenth of the values, unless pieces would be smaller
// than kLeastPieceBytes.
#include <algorithm>

#include "base/assert.h"
#include "collectives/algorithms.h"

namespace rota::collectives {
namespace {

constexpr std::size_t kPieceBytes = 256 * 1024;      // Fits a second-level cache.
constexpr std::size_t kLeastPieceBytes = 16 * 1024;  // Takes longer than a message's fixed cost.
constexpr std::size_t kMostChainPieces = 1024;

std::size_t pieces_of(const PlanRequest& request) noexcept {
  const std::size_t bytes = request.count * request.element_bytes;
  const std::size_t hops_after_first = std::max<std::size_t>(request.world_size, 2) - 2;
  const std::size_t wanted = std::max(bytes / kPieceBytes, 16 * hops_after_first);
  const std::size_t most = std::min(bytes / kLeastPieceBytes, kMostChainPieces);
  return std::max<std::size_t>(1, std::min(wanted, most));
}

Plan broadcast(const PlanRequest& request) {
  const std::size_t n = request.world_size;
  const std::size_t position = (request.rank + n - request.root) % n;  // The root's is 0.
  PlanBuilder plan(request);
  for (const Slice& piece : cut({0, request.count}, pieces_of(request))) {
    if (position > 0) plan.receive((request.rank + n - 1) % n, values_at(piece));
    if (position + 1 < n) plan.send((request.rank + 1) % n, values_at(piece));
  }
  return plan.build();
}

// A reduce goes in the same direction as a broadcast, but the root is last: terms are added in the
// order root + 1, …, root.
Plan reduce(const PlanRequest& request) {
  const std::size_t n = request.world_size;
  const std::size_t position = (request.rank + n - request.root + n - 1) % n;  // The root's: n - 1.
  const bool is_root = position + 1 == n;
  PlanBuilder plan(request);
  // Ranks other than the root may have no output buffer to add to.
  const bool borrows = !request.in_place && !is_root;
  const bool only_sends = borrows && position == 0 && !request.pre_scales;
  const Place sum = borrows && !only_sends ? plan.scratch(request.count) : Place{};
  for (const Slice& piece : cut({0, request.count}, pieces_of(request))) {
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
