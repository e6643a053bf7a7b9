// The default table of algorithms.
#include "collectives/choice.h"

#include <algorithm>

#include "collectives/plan.h"

namespace rota::collectives {
namespace {

// Over a network, up to this size, a hop costs more than the bytes that it moves.
constexpr std::size_t kFewBytes = 64 * 1024;

// A hub's network link carries all ranks' values. Up to this size, which takes 33 µs at 1 Gbit/s,
// these values cost less than the messages of another plan.
constexpr std::size_t kFewBytesOfAll = 4 * 1024;

// The most bytes of memory that one rank of a host may need for all ranks' values.
constexpr std::size_t kMostInOneRank = 1024 * 1024;

std::size_t bytes_of_values(const Description& call) noexcept {
  return call.count * bytes_of(call.type);
}

// Returns whether there are several hosts, and some ranks share a host. Ranks of one host also
// share the network link of the host, and the cost of its messages.
bool share_hosts(const Surroundings& world) noexcept {
  return world.host_count > 1 && world.host_count < world.world_size;
}

bool are_few_for_one_rank(const Description& call, const Surroundings& world) noexcept {
  const std::size_t bytes = bytes_of_values(call);
  return call.collective == Collective::kAllReduce && bytes <= kFewBytes &&
         bytes <= kMostInOneRank / world.world_size;
}

bool are_few_of_all(const Description& call, const Surroundings& world) noexcept {
  return call.collective == Collective::kAllReduce &&
         bytes_of_values(call) <= kFewBytesOfAll / std::max<std::size_t>(1, world.world_size - 1);
}

Choice in_shared_memory(const Description& call) noexcept {
  if (makes(Algorithm::kShared, call.collective)) {
    return {Algorithm::kShared, "ranks reach each other's memory"};
  }
  return {Algorithm::kDirect, "ranks read each other's memory"};
}

Choice of_two_phases(const Description& call, const Surroundings& world) noexcept {
  if (share_hosts(world) && are_few_for_one_rank(call, world)) {
    return {Algorithm::kByHost, "few bytes: one rank of each host speaks with the others"};
  }
  if (are_few_of_all(call, world)) {
    return {Algorithm::kHub, "very few bytes: the fewest messages"};
  }
  if (world.world_size == 2) return {Algorithm::kRing, "two ranks: a ring is direct"};
  if (bytes_of_values(call) <= kFewBytes) {
    return {Algorithm::kDirect, "few bytes: one hop each way"};
  }
  return {Algorithm::kRing, "many bytes: every link is busy all the time"};
}

Choice of_one_root(const Description& call) noexcept {
  if (bytes_of_values(call) <= kFewBytes) {
    return {Algorithm::kTree, "few bytes: log2(world size) hops"};
  }
  return {Algorithm::kChain, "many bytes: a rank passes a piece on while the next one arrives"};
}

}  // namespace

Choice choose(const Description& call, const Surroundings& world) noexcept {
  if (world.shares_memory) return in_shared_memory(call);
  switch (call.collective) {
    case Collective::kAllReduce:
    case Collective::kReduceScatter:
    case Collective::kAllGather:
      return of_two_phases(call, world);
    case Collective::kBroadcast:
      return of_one_root(call);
    case Collective::kReduce:
      return {Algorithm::kChain, "terms are added in the order of the ring"};
    case Collective::kBarrier:
      if (share_hosts(world)) {
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
  return {Algorithm::kDirect, "each part goes directly to its rank"};
}

}  // namespace rota::collectives
