// The functions that make plans, one for each algorithm.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "collectives/plan.h"
#include "collectives/plan_builder.h"

namespace rota::collectives {

Plan ring_plan(const PlanRequest& request);
Plan coded_ring_plan(const PlanRequest& request);  // By request.codec.
Plan direct_plan(const PlanRequest& request);
Plan halving_doubling_plan(const PlanRequest& request);
Plan tree_plan(const PlanRequest& request);
Plan two_level_plan(const PlanRequest& request);  // By request.hosts.
Plan hub_plan(const PlanRequest& request);
Plan by_host_plan(const PlanRequest& request);  // By request.hosts.
Plan star_plan(const PlanRequest& request);
Plan chain_plan(const PlanRequest& request);
Plan dissemination_plan(const PlanRequest& request);

constexpr Place values_at(Slice slice) noexcept { return {Buffer::kValues, slice}; }
constexpr Place input_at(Slice slice) noexcept { return {Buffer::kInput, slice}; }

// One of so many runs of `whole`, with cuts that lie on multiples of `grain`.
Slice piece_of(Slice whole, std::size_t index, std::size_t pieces, std::size_t grain) noexcept;

// The ring's chunks, which are the same for every type.
inline Slice chunk_of(Slice whole, std::size_t index, std::size_t pieces) noexcept {
  const Slice chunk = rota::chunk_of(whole.count, index, pieces);
  return {whole.offset + chunk.offset, chunk.count};
}
std::vector<Slice> cut(Slice whole, std::size_t pieces);

// The ranks of a host, in order.
using HostRanks = std::vector<std::size_t>;

// In the order of their first ranks.
std::vector<HostRanks> ranks_by_host(std::span<const std::size_t> host_of_rank);
std::size_t host_of(std::span<const HostRanks> hosts, std::size_t rank) noexcept;

// Brings this rank's contribution to `at` of its values: copied from the input where there is one,
// and multiplied where that was asked for.
void contribute(PlanBuilder& plan, const PlanRequest& request, Slice at);

}  // namespace rota::collectives
