// Meets, reduces, and waits until all have.
#include "collectives/exchange.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <rota/error.h>

#include "collectives/algorithms.h"

namespace rota::collectives {
namespace {

using transport::Board;
using transport::Post;

constexpr std::size_t kPieceBytes = 128 * 1024;  // Between two looks at whether it can go on.
constexpr std::size_t kBlockBytes = 8 * 1024;    // Stays in a first-level cache.

// Shares begin where no two ranks write to one line or, where there is enough for it, one page.
constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kPagesFrom = 64 * 1024;

// At what others have posted, before the caller's other duties have their turn: some 100 ns.
constexpr int kLooks = 64;

constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

std::uint64_t offset_in(std::span<const std::byte> memory, const std::byte* start,
                        std::size_t bytes) noexcept {
  const bool inside = start >= memory.data() && start <= memory.data() + memory.size() &&
                      bytes <= static_cast<std::size_t>(memory.data() + memory.size() - start);
  return inside ? static_cast<std::uint64_t>(start - memory.data()) : kNowhere;
}

bool fits(std::uint64_t offset, std::size_t bytes, std::span<const std::byte> memory) noexcept {
  return offset <= memory.size() && bytes <= memory.size() - offset;
}

}  // namespace

struct Exchange::Where {
  std::uint64_t from = kNowhere;  // Offsets in the rank's own memory.
  std::uint64_t to = kNowhere;
  double factor = 1;  // Each rank has its own.
};

Exchange::Exchange(Board* board)
    : board_(board),
      ends_(board ? board->world_size() : 0),
      posts_(board ? board->world_size() : 0) {}

bool Exchange::makes(const Operation& operation) const noexcept {
  if (!board_) return false;
  const Signature& signature = operation.signature;
  if (signature.collective == Collective::kBarrier) return true;
  return signature.collective == Collective::kAllReduce &&
         signature.algorithm == Algorithm::kDirect;
}

std::size_t Exchange::bytes() const noexcept {
  return operation_->signature.count * operation_->reducer->element_bytes();
}

bool Exchange::travels_with_post() const noexcept { return bytes() <= Post::kContentBytes; }

void Exchange::start(const Operation& operation) noexcept {
  operation_ = &operation;
  stage_ = Stage::kMeets;
  seen_ = 0;
  Board::Content content;
  const std::size_t content_bytes = travels_with_post() ? put_values(content) : put_place(content);
  board_->post(pack(operation.signature), content, content_bytes);
}

std::size_t Exchange::put_values(Board::Content& content) const noexcept {
  if (bytes() == 0) return 0;
  const Buffer from = operation_->in_place ? Buffer::kValues : Buffer::kInput;
  auto* to = reinterpret_cast<std::byte*>(content.data());
  std::memcpy(to, operation_->buffers[static_cast<std::size_t>(from)], bytes());
  operation_->reducer->pre_scale(to, operation_->signature.count);
  return bytes();
}

std::size_t Exchange::put_place(Board::Content& content) const noexcept {
  const auto own = board_->memory(board_->rank());
  std::byte* to = operation_->buffers[static_cast<std::size_t>(Buffer::kValues)];
  const std::byte* from =
      operation_->in_place ? to : operation_->buffers[static_cast<std::size_t>(Buffer::kInput)];
  const Where where{.from = offset_in(own, from, bytes()),
                    .to = offset_in(own, to, bytes()),
                    .factor = operation_->reducer->pre_factor()};
  std::memcpy(content.data(), &where, sizeof where);
  return sizeof where;
}

Exchange::Turn Exchange::step() {
  bool moved = false;
  if (stage_ == Stage::kMeets) {
    if (!meet()) return Turn::kNone;
    if (travels_with_post()) {
      add_posts();
      board_->count_sent((board_->world_size() - 1) * bytes());
      return Turn::kDone;
    }
    if (!reach()) return Turn::kApart;
    stage_ = Stage::kReduces;
    rest_ = share();
    count_sent();
  }
  if (stage_ == Stage::kReduces) {
    if (board_->broken()) return Turn::kNone;
    reduce_piece();
    if (rest_.count > 0) return Turn::kSome;
    board_->say_done();
    stage_ = Stage::kWaits;
    seen_ = 0;
    moved = true;
  }
  while (seen_ < board_->world_size() && board_->is_done(seen_)) ++seen_;
  if (seen_ == board_->world_size()) return Turn::kDone;
  return moved ? Turn::kSome : Turn::kNone;
}

// True once all ranks have posted.
bool Exchange::meet() {
  for (; seen_ < board_->world_size(); ++seen_) {
    const Post* post = board_->post_of(seen_);
    for (int looks = 1; !post && looks < kLooks; ++looks) post = board_->post_of(seen_);
    if (!post) return false;
    if (!board_->agrees(*post)) {
      const auto* theirs = board_->signature_of(seen_, board_->number());
      throw mismatch(operation_->signature, unpack(*theirs), seen_);
    }
    posts_[seen_] = post;
  }
  return true;
}

// False where some rank's values cannot be reached; all ranks find the same.
bool Exchange::reach() {
  for (std::size_t rank = 0; rank < ends_.size(); ++rank) {
    Where where;
    std::memcpy(&where, posts_[rank]->bytes(), sizeof where);
    if (where.from == kNowhere || where.to == kNowhere) return false;
    const auto memory = board_->memory(rank);
    if (!fits(where.from, bytes(), memory) || !fits(where.to, bytes(), memory)) {
      throw Error(ErrorCode::kPeerLost,
                  "rank " + std::to_string(rank) + " points outside of its shared arena", rank);
    }
    ends_[rank] = {memory.data() + where.from, memory.data() + where.to, where.factor};
  }
  return true;
}

// The contributions are added in the ring's order: to chunk c, those of c + 1, c + 2, …, c.
void Exchange::add_posts() const noexcept {
  std::byte* values = operation_->buffers[static_cast<std::size_t>(Buffer::kValues)];
  const std::size_t n = posts_.size();
  const Reducer& reducer = *operation_->reducer;
  const std::size_t count = operation_->signature.count;
  for (std::size_t chunk = 0; chunk < n; ++chunk) {
    const Slice slice = chunk_of({0, count}, chunk, n);
    if (slice.count == 0) break;
    const std::size_t offset = slice.offset * reducer.element_bytes();
    std::memcpy(values + offset, posts_[(chunk + 1) % n]->bytes() + offset,
                slice.count * reducer.element_bytes());
    for (std::size_t hop = 2; hop <= n; ++hop) {
      const std::byte* from = posts_[(chunk + hop) % n]->bytes() + offset;
      reducer.add_few(values + offset, from, slice.count, hop == n);
    }
  }
}

// What this rank reduces for all.
Slice Exchange::share() const noexcept {
  const std::size_t count = operation_->signature.count;
  const std::size_t unit_bytes = bytes() < kPagesFrom ? kLineBytes : kPageBytes;
  return piece_of({0, count}, board_->rank(), board_->world_size(),
                  unit_bytes / operation_->reducer->element_bytes());
}

// The others read what they reduce of this rank's, and get what it reduces for them.
void Exchange::count_sent() const noexcept {
  const std::size_t own = rest_.count * operation_->reducer->element_bytes();
  board_->count_sent(bytes() - own + (board_->world_size() - 1) * own);
}

void Exchange::reduce_piece() noexcept {
  const Reducer& reducer = *operation_->reducer;
  const Slice piece{rest_.offset, std::min(rest_.count, kPieceBytes / reducer.element_bytes())};
  if (ends_.size() == 2 && !any_factor()) {
    const std::size_t offset = piece.offset * reducer.element_bytes();
    reducer.add_to_both({ends_[0].from + offset, ends_[1].from + offset},
                        {ends_[0].to + offset, ends_[1].to + offset}, piece.count);
  } else {
    reduce_among_many(piece);
  }
  rest_ = {piece.offset + piece.count, rest_.count - piece.count};
}

// Block by block, each of which belongs to one chunk of the ring's.
void Exchange::reduce_among_many(Slice piece) const noexcept {
  const std::size_t n = ends_.size();
  const std::size_t block_count = kBlockBytes / operation_->reducer->element_bytes();
  for (std::size_t chunk = 0; chunk < n; ++chunk) {
    const Slice slice = chunk_of({0, operation_->signature.count}, chunk, n);
    const std::size_t end = std::min(piece.offset + piece.count, slice.offset + slice.count);
    for (std::size_t at = std::max(piece.offset, slice.offset); at < end; at += block_count) {
      reduce_block(chunk, {at, std::min(block_count, end - at)});
    }
  }
}

void Exchange::reduce_block(std::size_t chunk, Slice block) const noexcept {
  alignas(kLineBytes) std::byte sum[kBlockBytes];
  alignas(kLineBytes) std::byte scaled[kBlockBytes];
  const std::size_t n = ends_.size();
  const Reducer& reducer = *operation_->reducer;
  const std::size_t offset = block.offset * reducer.element_bytes();
  const std::size_t block_bytes = block.count * reducer.element_bytes();
  for (std::size_t hop = 1; hop <= n; ++hop) {
    const Ends& ends = ends_[(chunk + hop) % n];
    const std::byte* from = ends.from + offset;
    if (hop == 1 || ends.factor != 1) {
      std::byte* copy = hop == 1 ? sum : scaled;
      std::memcpy(copy, from, block_bytes);
      reducer.pre_scale(copy, block.count, ends.factor);
      from = copy;
    }
    if (hop > 1) reducer.add(sum, from, block.count, hop == n);
  }
  for (const Ends& ends : ends_) std::memcpy(ends.to + offset, sum, block_bytes);
}

bool Exchange::any_factor() const noexcept {
  return std::ranges::any_of(ends_, [](const Ends& ends) { return ends.factor != 1; });
}

Wait Exchange::waiting() const noexcept {
  const Slice all = travels_with_post() ? Slice{0, 0} : share();
  const std::size_t element_bytes = operation_->reducer->element_bytes();
  Wait wait{.peer = std::min(seen_, board_->world_size() - 1),
            .step = stage_ == Stage::kMeets ? 0U : 1U,
            .step_count = travels_with_post() ? 1U : 2U,
            .step_bytes = all.count * element_bytes};
  if (stage_ != Stage::kMeets) wait.bytes = (all.count - rest_.count) * element_bytes;
  return wait;
}

}  // namespace rota::collectives
