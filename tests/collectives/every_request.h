// Lists plan requests, for tests that go through plans of all kinds.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "collectives/plan.h"

namespace rota::testing {

inline std::vector<collectives::Plan> plans_of(
    const std::vector<collectives::PlanRequest>& requests) {
  std::vector<collectives::Plan> plans;
  plans.reserve(requests.size());
  for (const auto& request : requests) plans.push_back(collectives::make_plan(request));
  return plans;
}

inline std::vector<collectives::PlanRequest> for_each_rank(collectives::PlanRequest request) {
  std::vector<collectives::PlanRequest> requests;
  for (request.rank = 0; request.rank < request.world_size; ++request.rank) {
    requests.push_back(request);
  }
  return requests;
}

inline std::string describe(const collectives::PlanRequest& request) {
  return std::string(collectives::to_string(request.collective)) + " by " +
         std::string(collectives::to_string(request.algorithm)) + ", world " +
         std::to_string(request.world_size) + ", count " + std::to_string(request.count) +
         ", root " + std::to_string(request.root) + (request.in_place ? ", in place" : "") +
         (request.pre_scales ? ", pre-scaled" : "") +
         (request.codec != Codec::kIdentity ? ", coded" : "") +
         (request.feeds_back ? ", fed back" : "");
}

// The host of each rank, in four kinds: all ranks on one host; one rank per host; pairs of ranks;
// or three hosts with unequal numbers of ranks, where successive ranks are on different hosts.
inline constexpr std::size_t kHostsKinds = 4;
inline std::vector<std::size_t> hosts_of(std::size_t kind, std::size_t world_size) {
  std::vector<std::size_t> hosts(world_size);
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    hosts[rank] = kind == 0 ? 7 : kind == 1 ? rank : kind == 2 ? rank / 2 : rank * rank % 3;
  }
  return hosts;
}

// Elements of this size are so large that the plan chain can make a piece of 16 elements. No piece
// is smaller, because a buffer is cut only at multiples of 16 elements.
inline constexpr std::size_t kChainElementBytes = 1024;

// Calls f with `request` in place and out of place. For reductions, also calls it with a pre-scaled
// request.
template <class F>
void for_each_way(collectives::PlanRequest request, F f) {
  for (const bool in_place : {true, false}) {
    if (!in_place && request.collective >= collectives::Collective::kBroadcast) continue;
    for (const bool pre_scales : {false, true}) {
      if (pre_scales && !collectives::reduces(request.collective)) continue;
      request.in_place = in_place;
      request.pre_scales = pre_scales;
      f(request);
    }
  }
}

// Calls f with a request for each collective that all ranks call, with each algorithm that supports
// the collective, and in each way of for_each_way(). The root is the first, a middle and the last
// rank. With the smallest count some chunks are empty; with the largest count, each chunk has
// elements.
template <class F>
void for_every_kind(std::size_t n, F f) {
  using collectives::Algorithm;
  using collectives::Collective;
  for (int c = 1; c <= static_cast<int>(Collective::kBarrier); ++c) {
    for (int a = 1; a <= static_cast<int>(collectives::kLastAlgorithm); ++a) {
      collectives::PlanRequest request{
          {.collective = static_cast<Collective>(c), .algorithm = static_cast<Algorithm>(a)}, 0, n};
      if (!collectives::makes(request.algorithm, request.collective)) continue;
      if (!collectives::has_plans(request.algorithm)) continue;
      if (request.algorithm == Algorithm::kChain) request.element_bytes = kChainElementBytes;
      const bool has_hosts = collectives::looks_at_hosts(request.algorithm);
      for (std::size_t kind = 0; kind < (has_hosts ? kHostsKinds : 1); ++kind) {
        const auto hosts = hosts_of(kind, n);
        request.hosts = hosts;
        for (const std::size_t root : {std::size_t{0}, n / 2, n - 1}) {
          if (root > 0 && !collectives::has_root(request.collective)) break;
          request.root = root;
          for (const std::size_t part : {0, 1, 16}) {
            const bool is_barrier = request.collective == Collective::kBarrier;
            const bool in_parts = request.collective == Collective::kAllToAll;
            request.count = is_barrier ? 0 : part * n + (in_parts ? 0 : 1);
            for_each_way(request, f);
          }
        }
      }
    }
  }
}

// Does the same for the all-reduce with a codec. With the first count a chunk has one piece, with
// the second count three pieces.
template <class F>
void for_every_coded_kind(std::size_t n, F f) {
  for (const bool feeds_back : {false, true}) {
    for (const std::size_t count : {16 * n + 1, 3 * 64 * 1024 * n}) {
      for_each_way({{.collective = collectives::Collective::kAllReduce,
                     .algorithm = collectives::Algorithm::kRing,
                     .count = count,
                     .codec = Codec::kFloat16,
                     .feeds_back = feeds_back},
                    0,
                    n},
                   f);
    }
  }
}

}  // namespace rota::testing
