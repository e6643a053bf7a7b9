// The hub: rank 0 takes everybody's values whole, adds them up as the ring does, chunk by chunk,
// and hands the sums out. That is 2 (n - 1) messages in all, where direct has as many for each
// rank: right where a message costs more than its bytes. Order of additions and bits are the
// ring's.
#include "base/assert.h"
#include "collectives/algorithms.h"

namespace rota::collectives {
namespace {

constexpr std::size_t kHub = 0;

// The terms of chunk c are added in the order c + 1, c + 2, …, c. What was added up before the
// hub's own term comes is added to that one.
void add_up(PlanBuilder& plan, const std::vector<Place>& terms, std::size_t c, const Slice& chunk) {
  const std::size_t n = terms.size();
  const auto term = [&](std::size_t rank) {
    const Place& whole = terms[rank];
    return Place{whole.buffer, {whole.slice.offset + chunk.offset, chunk.count}};
  };
  std::size_t sum = (c + 1) % n;
  for (std::size_t hop = 2; hop <= n; ++hop) {
    const std::size_t rank = (c + hop) % n;
    const bool is_last = hop == n;
    if (rank == kHub) {
      plan.add(term(sum), term(kHub), is_last);
      sum = kHub;
    } else {
      plan.add(term(rank), term(sum), is_last);
    }
  }
}

}  // namespace

Plan hub_plan(const PlanRequest& request) {
  ROTA_ASSERT(request.collective == Collective::kAllReduce);
  const std::size_t n = request.world_size;
  const Place whole = values_at({0, request.count});
  PlanBuilder plan(request.rank);
  contribute(plan, request, whole.slice);
  if (request.rank != kHub) {
    plan.send(kHub, whole);
    plan.receive(kHub, whole);
    return plan.build();
  }
  std::vector<Place> terms{whole};
  for (std::size_t rank = 1; rank < n; ++rank) {
    terms.push_back(plan.scratch(request.count));
    plan.receive(rank, terms.back());
  }
  const std::vector<Slice> chunks = cut(whole.slice, n);
  for (std::size_t c = 0; c < n && n > 1; ++c) add_up(plan, terms, c, chunks[c]);
  for (std::size_t rank = 1; rank < n; ++rank) plan.send(rank, whole);
  return plan.build();
}

}  // namespace rota::collectives
