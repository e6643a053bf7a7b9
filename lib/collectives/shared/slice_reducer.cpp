// Reduces a slice in pieces, and each piece in runs. A run ends where any rank's values continue at
// another address.
#include "collectives/shared/slice_reducer.h"

#include <algorithm>
#include <cstring>

#include "collectives/algorithms.h"

namespace rota::collectives {
namespace {

constexpr std::size_t kPieceBytes = 128 * 1024;
constexpr std::size_t kBlockBytes = 8 * 1024;  // Fits a first-level cache.
constexpr std::size_t kLineBytes = 64;

}  // namespace

void SliceReducer::begin(const Reducer& reducer, std::size_t count, Slice slice,
                         std::optional<std::size_t> root) noexcept {
  reducer_ = &reducer;
  count_ = count;
  rest_ = slice;
  root_ = root;
}

std::optional<std::size_t> SliceReducer::reduce_piece() noexcept {
  const std::size_t element_bytes = reducer_->element_bytes();
  std::size_t left = std::min(rest_.count, kPieceBytes / element_bytes);
  while (left > 0) {
    const Slice run{rest_.offset, run_count(left)};
    reduce_run(run);
    left -= run.count;
    rest_ = {run.offset + run.count, rest_.count - run.count};
    for (Ends& ends : ends_) {
      if (!ends.gives && !ends.takes) continue;
      if (!ends.cursor.skip(run.count * element_bytes, rest_.count > 0)) {
        return static_cast<std::size_t>(&ends - ends_.data());
      }
    }
  }
  return std::nullopt;
}

std::size_t SliceReducer::run_count(std::size_t most) const noexcept {
  std::size_t bytes = most * reducer_->element_bytes();
  for (const Ends& ends : ends_) {
    if (ends.gives || ends.takes) bytes = std::min(bytes, ends.cursor.bytes());
  }
  return bytes / reducer_->element_bytes();
}

void SliceReducer::reduce_run(Slice run) const noexcept {
  const bool is_copied = !std::ranges::all_of(ends_, &Ends::gives);
  const bool is_plain = ends_.size() == 2 && ends_[0].factor == 1 && ends_[1].factor == 1;
  if (is_copied) {
    copy(run);
  } else if (is_plain) {
    reduce_between_two(run);
  } else {
    reduce_among_many(run);
  }
}

void SliceReducer::copy(Slice run) const noexcept {
  const std::byte* from = std::ranges::find_if(ends_, &Ends::gives)->cursor.from();
  for (const Ends& ends : ends_) {
    if (ends.takes) std::memcpy(ends.cursor.to(), from, run.count * reducer_->element_bytes());
  }
}

// If only one rank takes the result, both outputs are in the memory of this rank.
void SliceReducer::reduce_between_two(Slice run) const noexcept {
  const ScatterCursor& first = ends_[0].cursor;
  const ScatterCursor& second = ends_[1].cursor;
  std::byte* to = (ends_[0].takes ? first : second).to();
  std::byte* also_to = (ends_[1].takes ? second : first).to();
  reducer_->add_to_both({first.from(), second.from()}, {to, also_to}, run.count);
}

void SliceReducer::reduce_among_many(Slice run) const noexcept {
  if (root_) return reduce_blocks(*root_, run, run);
  const std::size_t n = ends_.size();
  for (std::size_t chunk = 0; chunk < n; ++chunk) {
    reduce_blocks(chunk, run, chunk_of({0, count_}, chunk, n));
  }
}

// Reduces the part of the run that is in `slice`. The slice belongs to one chunk.
void SliceReducer::reduce_blocks(std::size_t chunk, Slice run, Slice slice) const noexcept {
  const std::size_t block_count = kBlockBytes / reducer_->element_bytes();
  const std::size_t end = std::min(run.offset + run.count, slice.offset + slice.count);
  for (std::size_t at = std::max(run.offset, slice.offset); at < end; at += block_count) {
    reduce_block(chunk, run, {at, std::min(block_count, end - at)});
  }
}

// The contributions are added in the ring's order: in chunk c, the ranks' order is c + 1, c + 2, …,
// c.
void SliceReducer::reduce_block(std::size_t chunk, Slice run, Slice block) const noexcept {
  alignas(kLineBytes) std::byte sum[kBlockBytes];
  alignas(kLineBytes) std::byte scaled[kBlockBytes];
  const std::size_t n = ends_.size();
  const std::size_t offset = (block.offset - run.offset) * reducer_->element_bytes();
  const std::size_t block_bytes = block.count * reducer_->element_bytes();
  for (std::size_t hop = 1; hop <= n; ++hop) {
    const Ends& ends = ends_[(chunk + hop) % n];
    const std::byte* from = ends.cursor.from() + offset;
    if (hop == 1 || ends.factor != 1) {
      std::byte* copy = hop == 1 ? sum : scaled;
      std::memcpy(copy, from, block_bytes);
      reducer_->pre_scale(copy, block.count, ends.factor);
      from = copy;
    }
    if (hop > 1) reducer_->add(sum, from, block.count, hop == n);
  }
  for (const Ends& ends : ends_) {
    if (ends.takes) std::memcpy(ends.cursor.to() + offset, sum, block_bytes);
  }
}

}  // namespace rota::collectives
