// The default table.
#include "collectives/choice.h"

#include <algorithm>

namespace rota::collectives {
namespace {

// Over a network, up to this a hop costs more than the bytes that it moves.
constexpr std::size_t kFewBytes = 64 * 1024;

// A hub's cable carries everybody's values: up to this, which is 33 µs at 1 Gbit/s, they cost less
// than more messages would.
constexpr std::size_t kFewBytesOfAll = 4 * 1024;

// One rank of a host has memory for so much of all ranks' values.
constexpr std::size_t kMostInOneRank = 1024 * 1024;

// Ranks that share a host share its cable, and what a message costs.
bool share_hosts(const Situation& situation) noexcept {
  return situation.host_count > 1 && situation.host_count < situation.world_size;
}

bool are_few_for_one_rank(const Situation& situation) noexcept {
  return situation.collective == Collective::kAllReduce && situation.bytes <= kFewBytes &&
         situation.bytes <= kMostInOneRank / situation.world_size;
}

bool are_few_of_all(const Situation& situation) noexcept {
  return situation.collective == Collective::kAllReduce &&
         situation.bytes <= kFewBytesOfAll / std::max<std::size_t>(1, situation.world_size - 1);
}

Choice in_shared_memory(const Situation& situation) noexcept {
  if (makes(Algorithm::kShared, situation.collective)) {
    return {Algorithm::kShared, "ranks reach each other's memory"};
  }
  return {Algorithm::kDirect, "ranks read each other's memory"};
}

Choice of_two_phases(const Situation& situation) noexcept {
  if (share_hosts(situation) && are_few_for_one_rank(situation)) {
    return {Algorithm::kByHost, "few bytes: one rank of each host speaks with the others"};
  }
  if (are_few_of_all(situation)) return {Algorithm::kHub, "very few bytes: the fewest messages"};
  if (situation.world_size == 2) return {Algorithm::kRing, "two ranks: a ring is direct"};
  if (situation.bytes <= kFewBytes) return {Algorithm::kDirect, "few bytes: one hop each way"};
  return {Algorithm::kRing, "many bytes: every link is busy all the time"};
}

Choice of_one_root(const Situation& situation) noexcept {
  if (situation.bytes <= kFewBytes) return {Algorithm::kTree, "few bytes: log2(world size) hops"};
  return {Algorithm::kChain, "many bytes: a piece goes on while the next one arrives"};
}

}  // namespace

Choice choose(const Situation& situation) noexcept {
  if (situation.shares_memory) return in_shared_memory(situation);
  switch (situation.collective) {
    case Collective::kAllReduce:
    case Collective::kReduceScatter:
    case Collective::kAllGather:
      return of_two_phases(situation);
    case Collective::kBroadcast:
      return of_one_root(situation);
    case Collective::kReduce:
      return {Algorithm::kChain, "terms in the ring's order"};
    case Collective::kBarrier:
      if (share_hosts(situation)) {
        return {Algorithm::kByHost, "one rank of each host speaks with the others"};
      }
      return {Algorithm::kDissemination, "log2(world size) rounds"};
    case Collective::kGather:
    case Collective::kScatter:
    case Collective::kAllToAll:
    case Collective::kSend:
    case Collective::kReceive:
      break;
  }
  return {Algorithm::kDirect, "each part goes where it belongs"};
}

}  // namespace rota::collectives
