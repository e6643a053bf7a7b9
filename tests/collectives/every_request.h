// What is asked of plans where tests go through all kinds of them.
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

// Which host each rank is on: all on one, one each, in pairs, or on three, of unequal numbers and
// not with their neighbours.
inline constexpr std::size_t kHostsKinds = 4;
inline std::vector<std::size_t> hosts_of(std::size_t kind, std::size_t world_size) {
  std::vector<std::size_t> hosts(world_size);
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    hosts[rank] = kind == 0 ? 7 : kind == 1 ? rank : kind == 2 ? rank / 2 : rank * rank % 3;
  }
  return hosts;
}

// Of so many bytes 16 elements, as many as lie between two cuts, are worth a piece of a chain.
inline constexpr std::size_t kChainElementBytes = 1024;

// Calls f with `request` in place and out of place, and where it reduces also pre-scaled.
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

// Calls f with a request for every collective of all ranks, by every algorithm that makes it, in
// every way, from the first root, a middle one and the last: with one element, with few, and with
// some for every chunk.
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

// The same for the all-reduce by a codec: of a chunk in one piece, and in three.
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
