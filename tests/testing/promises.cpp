// Describes the result that each collective promises, element by element. It does not depend on the
// plan.
#include "testing/promises.h"

#include <span>

namespace rota::testing {

using collectives::Collective;
using collectives::part_of;
using collectives::PlanRequest;

namespace {

std::size_t sum_of(std::span<const std::size_t> counts) {
  std::size_t sum = 0;
  for (const std::size_t count : counts) sum += count;
  return sum;
}

PlanRequest as_received(PlanRequest request) {
  if (!request.counts.empty()) request.counts = request.receive_counts;
  return request;
}

}  // namespace

std::size_t values_count(const PlanRequest& request) {
  const bool is_root = request.rank == request.root;
  switch (request.collective) {
    case Collective::kAllReduce:
    case Collective::kAllGather:
    case Collective::kBroadcast:
    case Collective::kReceive:
      return request.count;
    case Collective::kReduce:
      return request.in_place || is_root ? request.count : 0;
    case Collective::kReduceScatter:
      return request.in_place ? request.count : part_of(request, request.rank).count;
    case Collective::kGather:
      return is_root ? request.count : 0;
    case Collective::kScatter:
      return is_root && request.in_place ? 0 : part_of(request, request.rank).count;
    case Collective::kAllToAll:
      return request.counts.empty() ? request.count : sum_of(request.receive_counts);
    case Collective::kBarrier:
    case Collective::kSend:
      break;
  }
  return 0;
}

std::size_t input_count(const PlanRequest& request) {
  const bool is_root = request.rank == request.root;
  switch (request.collective) {
    case Collective::kAllReduce:
    case Collective::kReduce:
    case Collective::kReduceScatter:
    case Collective::kAllToAll:
      return request.in_place ? 0 : request.count;
    case Collective::kAllGather:
      return request.in_place ? 0 : part_of(request, request.rank).count;
    case Collective::kGather:
      return is_root && request.in_place ? 0 : part_of(request, request.rank).count;
    case Collective::kScatter:
      return is_root ? request.count : 0;
    case Collective::kSend:
      return request.count;
    case Collective::kBroadcast:
    case Collective::kBarrier:
    case Collective::kReceive:
      break;
  }
  return 0;
}

std::vector<std::optional<Promise>> promises(const std::vector<PlanRequest>& requests,
                                             std::size_t rank) {
  const PlanRequest& own = requests[rank];
  std::vector<std::optional<Promise>> result(values_count(own));
  const auto fill = [&](Slice at, std::optional<std::size_t> from, std::size_t first) {
    for (std::size_t i = 0; i < at.count; ++i) result[at.offset + i] = {{from, first + i}};
  };
  const Slice part = part_of(own, rank);
  switch (own.collective) {
    case Collective::kAllReduce:
      fill({0, own.count}, std::nullopt, 0);
      break;
    case Collective::kReduce:
      if (rank == own.root) fill({0, own.count}, std::nullopt, 0);
      break;
    case Collective::kReduceScatter:
      fill({own.in_place ? part.offset : 0, part.count}, std::nullopt, part.offset);
      break;
    case Collective::kAllGather:
    case Collective::kGather:
      for (std::size_t from = 0; from < requests.size() && !result.empty(); ++from) {
        const Slice theirs = part_of(own, from);
        const bool in_place = requests[from].in_place &&
                              (own.collective == Collective::kAllGather || from == own.root);
        fill(theirs, from, in_place ? theirs.offset : 0);
      }
      break;
    case Collective::kScatter:
      if (!result.empty()) fill({0, part.count}, own.root, part.offset);
      break;
    case Collective::kAllToAll:
      for (std::size_t from = 0; from < requests.size(); ++from) {
        fill(part_of(as_received(own), from), from, part_of(requests[from], rank).offset);
      }
      break;
    case Collective::kBroadcast:
    case Collective::kReceive:
      fill({0, own.count}, own.root, 0);
      break;
    case Collective::kBarrier:
    case Collective::kSend:
      break;
  }
  return result;
}

}  // namespace rota::testing
