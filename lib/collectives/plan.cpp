// The table of algorithms: the name of each algorithm, its collectives, and the function that makes
// its plans.
#include "collectives/plan.h"

#include <algorithm>

#include "base/assert.h"
#include "collectives/algorithms.h"

namespace rota::collectives {
namespace {

struct Row {
  Algorithm algorithm;
  std::string_view name;
  Plan (*make)(const PlanRequest&);  // Null: no plans.
  std::initializer_list<Collective> collectives;
};

using enum Collective;
const Row kRows[] = {
    {Algorithm::kRing, "ring", ring_plan, {kAllReduce, kReduceScatter, kAllGather}},
    {Algorithm::kDirect,
     "direct",
     direct_plan,
     {kAllReduce, kReduceScatter, kAllGather, kGather, kScatter, kAllToAll, kSend, kReceive}},
    {Algorithm::kHalvingDoubling, "halving-doubling", halving_doubling_plan, {kAllReduce}},
    {Algorithm::kTree, "tree", tree_plan, {kAllReduce, kReduce, kBroadcast}},
    {Algorithm::kTwoLevel, "two-level", two_level_plan, {kAllReduce}},
    {Algorithm::kStar, "star", star_plan, {kAllReduce}},
    {Algorithm::kChain, "chain", chain_plan, {kReduce, kBroadcast}},
    {Algorithm::kDissemination, "dissemination", dissemination_plan, {kBarrier}},
    {Algorithm::kHub, "hub", hub_plan, {kAllReduce}},
    {Algorithm::kByHost, "by-host", by_host_plan, {kAllReduce, kBarrier}},
    {Algorithm::kShared, "shared-memory", nullptr, {kAllReduce, kReduce, kBroadcast, kBarrier}},
    {Algorithm::kMpi, "mpi", nullptr, {kAllReduce, kReduce, kAllGather, kBroadcast, kBarrier}},
    {Algorithm::kNccl,
     "nccl",
     nullptr,
     {kAllReduce, kReduce, kReduceScatter, kAllGather, kGather, kScatter, kAllToAll, kBroadcast}},
};

// Returns null for a value that is not an algorithm: a peer's message may contain any number.
const Row* row_of(Algorithm algorithm) noexcept {
  for (const Row& row : kRows) {
    if (row.algorithm == algorithm) return &row;
  }
  return nullptr;
}

}  // namespace

Plan make_plan(const PlanRequest& request) {
  ROTA_ASSERT(request.rank < request.world_size && request.root < request.world_size);
  ROTA_ASSERT(has_plans(request.algorithm) && makes(request.algorithm, request.collective));
  if (request.codec != Codec::kIdentity) {
    ROTA_ASSERT(request.algorithm == Algorithm::kRing);
    return coded_ring_plan(request);
  }
  return row_of(request.algorithm)->make(request);
}

bool makes(Algorithm algorithm, Collective collective) noexcept {
  const Row* row = row_of(algorithm);
  return row != nullptr && std::find(row->collectives.begin(), row->collectives.end(),
                                     collective) != row->collectives.end();
}

bool has_plans(Algorithm algorithm) noexcept {
  const Row* row = row_of(algorithm);
  return row != nullptr && row->make != nullptr;
}

Slice part_of(std::span<const std::size_t> counts, std::size_t count, std::size_t rank,
              std::size_t world_size) noexcept {
  if (counts.empty()) return slice_of(count, rank, world_size);
  Slice part{0, counts[rank]};
  for (std::size_t before = 0; before < rank; ++before) part.offset += counts[before];
  return part;
}

Slice piece_of(Slice whole, std::size_t index, std::size_t pieces, std::size_t grain) noexcept {
  const Slice grains = slice_of((whole.count + grain - 1) / grain, index, pieces);
  const std::size_t first = std::min(grains.offset * grain, whole.count);
  const std::size_t last = std::min((grains.offset + grains.count) * grain, whole.count);
  return {whole.offset + first, last - first};
}

std::vector<Slice> cut(Slice whole, std::size_t pieces) {
  std::vector<Slice> slices;
  slices.reserve(pieces);
  for (std::size_t i = 0; i < pieces; ++i) slices.push_back(chunk_of(whole, i, pieces));
  return slices;
}

std::vector<HostRanks> ranks_by_host(std::span<const std::size_t> host_of_rank) {
  std::vector<HostRanks> hosts;
  for (std::size_t rank = 0; rank < host_of_rank.size(); ++rank) {
    // Ranks of a host mostly follow one another, so the search begins with the newest host.
    const auto known = std::find_if(hosts.rbegin(), hosts.rend(), [&](const HostRanks& ranks) {
      return host_of_rank[ranks.front()] == host_of_rank[rank];
    });
    if (known == hosts.rend()) {
      hosts.push_back({rank});
    } else {
      known->push_back(rank);
    }
  }
  return hosts;
}

std::size_t host_of(std::span<const HostRanks> hosts, std::size_t rank) noexcept {
  const auto own = std::ranges::find_if(hosts, [rank](const HostRanks& ranks) {
    return std::ranges::find(ranks, rank) != ranks.end();
  });
  return static_cast<std::size_t>(own - hosts.begin());
}

void contribute(PlanBuilder& plan, const PlanRequest& request, Slice at) {
  if (!request.in_place) plan.copy(input_at(at), values_at(at));
  if (request.pre_scales) plan.pre_scale(values_at(at));
}

std::string_view to_string(Algorithm algorithm) noexcept {
  const Row* row = row_of(algorithm);
  return row != nullptr ? row->name : "unknown";
}

std::optional<Algorithm> algorithm_named(std::string_view name) noexcept {
  for (const Row& row : kRows) {
    if (name == row.name) return row.algorithm;
  }
  return std::nullopt;
}

}  // namespace rota::collectives
