// Staging, for values in memory that peers cannot access: segment after segment is copied to each
// rank's staging buffer, reduced there, and copied back.
#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "collectives/shared/run.h"

namespace rota::collectives {

bool SharedRun::is_reached_by_others(const Operation& operation) const noexcept {
  const std::size_t own = flags_->rank();
  return is_reached(operation.planned->call, own, offer_of(operation, flags_->memory(own)));
}

// Begins the segment at `offset`. Copies to the staging buffer the parts that other ranks reduce.
// If the staging buffer has at least one page for each rank, a segment is cut so that all slices
// have the same number of pages.
void SharedRun::stage_from(std::size_t offset) {
  const std::span<std::byte> stage = flags_->stage();
  const std::size_t page_each = flags_->world_size() * PageShares::kPageBytes;
  const std::size_t rest = stage.size() < page_each ? 0 : stage.size() % page_each;
  const std::size_t most = (stage.size() - rest) / element_bytes();
  is_staged_ = true;
  segment_ = {offset, std::min(call().count - offset, most)};
  cut();
  if (gives(flags_->rank())) {
    const auto bring = [&](const ScatterCursor& own, std::size_t at, std::size_t count) {
      std::memcpy(stage.data() + at, own.from(), count);
    };
    flags_->count_staged(for_others_shares(bring));
  }
  awaited_ = flags_->say_staged();
}

// A rank's post may already say that its first segment is in the staging buffer. For all other
// segments, the rank's counter says this.
Turn SharedRun::stage() {
  if (!all_have_staged()) return Turn::kNothing;
  return begin_share();
}

bool SharedRun::all_have_staged() noexcept {
  const bool is_first = segment_.offset == 0;
  for (; seen_ < flags_->world_size(); ++seen_) {
    const bool is_said = is_first && offered_by(seen_).is_staged != 0;
    if (!is_said && !flags_->is_staged(seen_, awaited_)) return false;
  }
  return true;
}

// Copies back the parts of this segment that other ranks have reduced.
Turn SharedRun::go_on_with_next_segment() {
  if (takes(flags_->rank())) {
    const std::byte* from = flags_->stage().data();
    const auto bring_back = [&](const ScatterCursor& own, std::size_t at, std::size_t count) {
      std::memcpy(own.to(), from + at, count);
    };
    flags_->count_staged(for_others_shares(bring_back));
  }
  const std::size_t next = segment_.offset + segment_.count;
  if (next == call().count) {
    flags_->pass_turn();
    return Turn::kDone;
  }
  stage_from(next);
  phase_ = Phase::kStages;
  seen_ = 0;
  return Turn::kMoved;
}

// Calls copy(own values, byte offset in the staging buffer, byte count) for each run of the segment
// before and after this rank's own slice. Returns the total bytes.
template <class F>
std::size_t SharedRun::for_others_shares(F copy) const {
  const Slice own = own_;
  const std::size_t end = own.offset + own.count;
  const Slice before{segment_.offset, own.offset - segment_.offset};
  const Slice behind{end, segment_.offset + segment_.count - end};
  for (const Slice& others : {before, behind}) {
    ScatterCursor cursor = own_cursor();
    std::size_t left = others.count * element_bytes();
    std::size_t at = bytes_before(others) - bytes_before(segment_);
    bool is_there = cursor.skip(bytes_before(others), left > 0);
    while (is_there && left > 0) {
      const std::size_t count = std::min(left, cursor.bytes());
      copy(cursor, at, count);
      at += count;
      left -= count;
      is_there = cursor.skip(count, left > 0);
    }
    ROTA_ASSERT(is_there);
  }
  return (before.count + behind.count) * element_bytes();
}

}  // namespace rota::collectives
