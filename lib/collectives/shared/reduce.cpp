// The middle of a collective over shared memory: each rank reduces its slice of all ranks' values,
// in place.
#include <string>

#include "collectives/shared/run.h"

namespace rota::collectives {
namespace {

bool fits(std::uint64_t offset, std::size_t bytes, std::span<const std::byte> memory) noexcept {
  return offset <= memory.size() && bytes <= memory.size() - offset;
}

Error points_outside(std::size_t rank) {
  return {ErrorCode::kPeerLost,
          "rank " + std::to_string(rank) + " points outside of its shared arena", rank};
}

}  // namespace

// Cuts this segment into slices. If rank 0's values are one contiguous run and are not staged, the
// slices end at the page boundaries of that memory. Otherwise, pages are counted from the first
// value of the segment.
void SharedRun::cut() noexcept {
  const Offer first = is_staged_ ? Offer{} : offered_by(0);
  const bool is_run = first.is_list == 0 && first.from != Offer::kNowhere;
  shares_.cut(segment_, element_shift_, is_run ? first.from : 0);
  own_ = shares_.of(flags_->rank());
}

// Prepares this rank's slice. Two kinds of bytes count as sent: the bytes of this rank's values
// that other ranks read, and the bytes that this rank writes to other ranks.
Turn SharedRun::begin_share() {
  const Slice own = own_;
  const bool is_rooted = call().collective == Collective::kReduce;
  slice_reducer_.begin(reducer(), call().count, own,
                       is_rooted ? std::optional<std::size_t>(call().root) : std::nullopt);
  // A rank with an empty slice must not read the other ranks' lists: no rank waits for it, so the
  // lists may already describe another operation.
  for (std::size_t rank = 0; own.count > 0 && rank < posts_.size(); ++rank) reach_share_of(rank);
  flags_->count_sent(sent_bytes(own.count * element_bytes()));
  phase_ = Phase::kReduces;
  return reduce();
}

void SharedRun::reach_share_of(std::size_t rank) {
  const bool is_own = rank == flags_->rank();
  const Offer offer = offered_by(rank);
  SliceReducer::Ends& ends = slice_reducer_.of(rank);
  ends = {.gives = gives(rank), .takes = takes(rank), .factor = offer.factor};
  if (!ends.gives && !ends.takes) return;
  ends.cursor = is_own ? own_cursor() : cursor_of(rank, offer);
  const std::size_t before = is_staged_ && !is_own ? bytes_before(segment_) : 0;
  if (!ends.cursor.skip(bytes_before(own_) - before)) throw points_outside(rank);
}

// Returns a cursor over all of this rank's values, in the caller's memory.
ScatterCursor SharedRun::own_cursor() const noexcept {
  if (operation_->parts) {
    return {flags_->memory(flags_->rank()), *operation_->parts, element_bytes()};
  }
  std::byte* from = contribution_of(*operation_);
  const bool has_results = takes(flags_->rank());
  return {from, has_results ? buffer_of(*operation_, Buffer::kValues) : from, bytes()};
}

// Returns a cursor over all values of a peer. With staging, the cursor goes only over the peer's
// values in the segment.
ScatterCursor SharedRun::cursor_of(std::size_t rank, const Offer& offer) const {
  const auto memory = flags_->memory(rank);
  if (!is_staged_ && offer.is_list != 0) {
    if (!fits(offer.from, sizeof(ScatterList), memory) || offer.from % alignof(ScatterList) != 0) {
      throw points_outside(rank);
    }
    const auto* list = reinterpret_cast<const ScatterList*>(memory.data() + offer.from);
    return {memory, *list, element_bytes()};
  }
  const std::size_t run_bytes = segment_.count * element_bytes();
  std::uint64_t from = offer.from;
  std::uint64_t to = offer.to;
  if (is_staged_) from = to = flags_->stage_of(rank);
  if (!gives(rank)) from = to;
  if (!takes(rank)) to = from;
  if (!fits(from, run_bytes, memory) || !fits(to, run_bytes, memory)) throw points_outside(rank);
  return {memory.data() + from, memory.data() + to, run_bytes};
}

// Returns the number of bytes of this rank's values that other ranks read, plus the number of bytes
// that this rank writes to the values of other ranks.
std::size_t SharedRun::sent_bytes(std::size_t own_bytes) const noexcept {
  const std::size_t read = segment_.count * element_bytes() - own_bytes;
  return (gives(flags_->rank()) ? read : 0) + others_that_take() * own_bytes;
}

std::size_t SharedRun::others_that_take() const noexcept {
  std::size_t others = 0;
  for (std::size_t rank = 0; rank < posts_.size(); ++rank) {
    if (rank != flags_->rank() && takes(rank)) ++others;
  }
  return others;
}

Turn SharedRun::reduce() {
  if (flags_->broken()) return Turn::kNothing;
  if (const auto rank = slice_reducer_.reduce_piece()) throw points_outside(*rank);
  if (slice_reducer_.rest().count > 0) return Turn::kMoved;
  awaited_ = own_.count > 0 ? flags_->say_done() : flags_->pass_over();
  if (!is_staged_) flags_->pass_turn();
  phase_ = Phase::kWaits;
  seen_ = 0;
  return wait_for_all() == Turn::kDone ? Turn::kDone : Turn::kMoved;
}

}  // namespace rota::collectives
