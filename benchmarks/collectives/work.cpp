// Computes the layout and size of a piece of work.
#include "collectives/work.h"

#include <algorithm>

namespace rota::bench {

std::string_view to_string(Placement placement) noexcept {
  return placement == Placement::kInPlace ? "in-place" : "out-of-place";
}

std::string_view to_string(Memory memory) noexcept {
  return memory == Memory::kShared ? "shared" : "any";
}

std::string_view to_string(State state) noexcept {
  return state == State::kWarm ? "warm" : "fresh";
}

std::string_view to_string(Calls calls) noexcept {
  return calls == Calls::kIsolated ? "isolated" : "back-to-back";
}

Layout layout_of(const Work& work, std::size_t rank, std::size_t ranks) noexcept {
  const bool in_place = work.placement == Placement::kInPlace;
  const Slice all{0, work.total};
  const Slice at_root = rank == kRoot ? all : Slice{};
  const std::size_t part_count = work.total / ranks;
  const Slice part{in_place ? rank * part_count : 0, part_count};
  switch (work.collective) {
    case Collective::kAllReduce:
    case Collective::kAllToAll:
      return {all, all};
    case Collective::kReduce:
      return {all, at_root};
    case Collective::kReduceScatter:
      return {all, part};
    case Collective::kAllGather:
      return {part, all};
    case Collective::kGather:
      return {part, at_root};
    case Collective::kScatter:
      return {at_root, part};
    case Collective::kBroadcast:
      return {at_root, all};
    case Collective::kPingPong:
      return {at_root, rank <= kPingPongPeer ? all : Slice{}};
    case Collective::kBarrier:
      break;
  }
  return {};
}

std::size_t total_of(Collective collective, DataType type, std::size_t bytes,
                     std::size_t ranks) noexcept {
  if (collective == Collective::kBarrier) return 0;
  const std::size_t grain = has_parts(collective) ? ranks : 1;
  return std::max<std::size_t>(1, bytes / (bytes_of(type) * grain)) * grain;
}

}  // namespace rota::bench
