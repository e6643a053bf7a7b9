// The functions that make plans, one function for each algorithm, and the helpers that they share.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "collectives/plan.h"
#include "collectives/plan_builder.h"

namespace rota::collectives {

Plan ring_plan(const PlanRequest& request);
Plan coded_ring_plan(const PlanRequest& request);  // Uses request.codec.
Plan direct_plan(const PlanRequest& request);
Plan halving_doubling_plan(const PlanRequest& request);
Plan tree_plan(const PlanRequest& request);
Plan two_level_plan(const PlanRequest& request);  // Uses request.hosts.
Plan hub_plan(const PlanRequest& request);
Plan by_host_plan(const PlanRequest& request);  // Uses request.hosts.
Plan star_plan(const PlanRequest& request);
Plan chain_plan(const PlanRequest& request);
Plan dissemination_plan(const PlanRequest& request);

constexpr Place values_at(Slice slice) noexcept { return {Buffer::kValues, slice}; }
constexpr Place input_at(Slice slice) noexcept { return {Buffer::kInput, slice}; }

// Cuts `whole` into `pieces` slices, at multiples of `grain`, and returns slice `index`.
Slice piece_of(Slice whole, std::size_t index, std::size_t pieces, std::size_t grain) noexcept;

// Returns chunk `index` of the ring, which cuts `whole` into `pieces` chunks. A chunk has the same
// elements for every data type.
inline Slice chunk_of(Slice whole, std::size_t index, std::size_t pieces) noexcept {
  const Slice chunk = rota::chunk_of(whole.count, index, pieces);
  return {whole.offset + chunk.offset, chunk.count};
}
std::vector<Slice> cut(Slice whole, std::size_t pieces);

// The ranks of a host, in ascending order.
using HostRanks = std::vector<std::size_t>;

// Returns the ranks of each host. The hosts are in the order of their first ranks.
std::vector<HostRanks> ranks_by_host(std::span<const std::size_t> host_of_rank);
std::size_t host_of(std::span<const HostRanks> hosts, std::size_t rank) noexcept;

// Puts this rank's contribution into the elements `at` of the rank's values. If the call has an
// input, copies the contribution from the input. If the call pre-scales, multiplies the
// contribution by the factor.
void contribute(PlanBuilder& plan, const PlanRequest& request, Slice at);

}  // namespace rota::collectives
