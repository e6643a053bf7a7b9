// Keeps the accesses of each thread in their order. Only the newest of them can race: all accesses
// before an event that is known happen before.
#include "orders/plain_accesses.h"

#include <algorithm>

namespace rota::orders {
namespace {

using AccessKind = PlainAccesses::Kind;

bool writes(AccessKind kind) {
  return kind == AccessKind::kWrite || kind == AccessKind::kAtomicWrite;
}
bool is_atomic(AccessKind kind) {
  return kind == AccessKind::kAtomicRead || kind == AccessKind::kAtomicWrite;
}

bool may_race(AccessKind one, AccessKind other) {
  return (writes(one) || writes(other)) && !(is_atomic(one) && is_atomic(other));
}

constexpr std::size_t kMostMerged = 8;  // A loop reads and writes this many arrays at most.

}  // namespace

std::optional<std::size_t> PlainAccesses::add(const Execution& execution, std::size_t thread,
                                              Kind kind, const volatile void* address,
                                              std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const Range range{begin, begin + bytes, execution.next_index(thread), kind};
  const Clock& known = execution.known(thread);
  for (std::size_t other = 0; other < kMostThreads; ++other) {
    if (other == thread) continue;
    const std::vector<Range>& theirs = ranges_[other];
    for (auto it = theirs.rbegin(); it != theirs.rend() && it->index > known[other]; ++it) {
      const bool meets = it->begin < range.end && range.begin < it->end;
      if (meets && may_race(kind, it->kind)) return other;
    }
  }
  append(ranges_[thread], range);
  return std::nullopt;
}

// Merges the range with one that it continues.
void PlainAccesses::append(std::vector<Range>& ranges, const Range& range) {
  for (std::size_t i = 0; i < std::min(kMostMerged, ranges.size()); ++i) {
    Range& old = ranges[ranges.size() - 1 - i];
    if (old.index != range.index) break;
    if (old.kind != range.kind || old.begin > range.end || range.begin > old.end) continue;
    old.begin = std::min(old.begin, range.begin);
    old.end = std::max(old.end, range.end);
    return;
  }
  ranges.push_back(range);
}

}  // namespace rota::orders
