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
  std::uint64_t stage = kNowhere;  // Of the segment's values, once they are there.
  double factor = 1;               // Each rank has its own.
};

Exchange::Exchange(Board* board)
    : board_(board),
      ends_(board ? board->world_size() : 0),
      posts_(board ? board->world_size() : 0) {}

bool Exchange::travels_with_post() const noexcept { return bytes() <= Post::kContentBytes; }

void Exchange::start(const Operation& operation) {
  operation_ = &operation;
  const Ends own = own_ends();
  const auto reached = board_->memory(board_->rank());
  segment_ = {0, operation.signature.count};
  is_staged_ = !travels_with_post() && (offset_in(reached, own.from, bytes()) == kNowhere ||
                                        offset_in(reached, own.to, bytes()) == kNowhere);
  // Where all are alike, one post does for the memory and for the first segment.
  if (is_staged_) stage_from(0);
  post();
}

void Exchange::post() {
  Board::Content content{};
  const std::size_t content_bytes = travels_with_post() ? put_values(content) : put_place(content);
  board_->post(pack(operation_->signature), content, content_bytes);
  phase_ = Phase::kMeets;
  seen_ = 0;
}

// In the caller's memory.
Exchange::Ends Exchange::own_ends() const noexcept {
  std::byte* to = operation_->buffers[static_cast<std::size_t>(Buffer::kValues)];
  const auto input = static_cast<std::size_t>(Buffer::kInput);
  return {.from = operation_->in_place ? to : operation_->buffers[input],
          .to = to,
          .factor = operation_->reducer->pre_factor()};
}

std::size_t Exchange::put_values(Board::Content& content) const noexcept {
  if (bytes() == 0) return 0;
  auto* to = reinterpret_cast<std::byte*>(content.data());
  std::memcpy(to, own_ends().from, bytes());
  operation_->reducer->pre_scale(to, operation_->signature.count);
  return bytes();
}

std::size_t Exchange::put_place(Board::Content& content) const noexcept {
  const auto reached = board_->memory(board_->rank());
  const Ends own = own_ends();
  Where where{.from = offset_in(reached, own.from, bytes()),
              .to = offset_in(reached, own.to, bytes()),
              .factor = own.factor};
  if (is_staged_) where.stage = board_->stage_offset();
  static_assert(sizeof where <= Post::kContentBytes);
  std::memcpy(content.data(), &where, sizeof where);
  return sizeof where;
}

Exchange::Turn Exchange::step() {
  bool moved = false;
  if (phase_ == Phase::kMeets) {
    if (!meet()) return Turn::kNone;
    if (travels_with_post()) {
      add_posts();
      board_->count_sent((board_->world_size() - 1) * bytes());
      return Turn::kDone;
    }
    if (!agree_on_memory()) {
      if (!is_staged_) stage_from(0);
      post();
      return Turn::kSome;
    }
    begin_share();
  }
  if (phase_ == Phase::kReduces) {
    if (board_->broken()) return Turn::kNone;
    reduce_piece();
    if (rest_.count > 0) return Turn::kSome;
    board_->say_done();
    phase_ = Phase::kWaits;
    seen_ = 0;
    moved = true;
  }
  if (!all_are_done()) return moved ? Turn::kSome : Turn::kNone;
  if (!is_staged_) return Turn::kDone;
  fetch_results();
  const std::size_t next = segment_.offset + segment_.count;
  if (next == operation_->signature.count) return Turn::kDone;
  stage_from(next);
  post();
  return Turn::kSome;
}

// True once all ranks have posted.
bool Exchange::meet() {
  for (; seen_ < board_->world_size(); ++seen_) {
    const Post* post = board_->post_of(seen_);
    if (!post) return false;
    if (!board_->agrees(*post)) compare_with(seen_);
    posts_[seen_] = post;
  }
  return true;
}

// A digest is quick to compare; before ranks write to each other's memory, all of it is.
void Exchange::compare_with(std::size_t rank) const {
  const Board::Signature& theirs = *board_->signature_of(rank, board_->number());
  if (theirs == pack(operation_->signature)) return;
  throw mismatch(operation_->signature, unpack(theirs), rank);
}

bool Exchange::all_are_done() noexcept {
  while (seen_ < board_->world_size() && board_->is_done(seen_)) ++seen_;
  return seen_ == board_->world_size();
}

// Learns where everybody's values are. False where some rank has to stage its own first, as another
// one's cannot be reached; all ranks find the same.
bool Exchange::agree_on_memory() {
  const auto where_of = [&](std::size_t rank) {
    Where where;
    std::memcpy(&where, posts_[rank]->bytes(), sizeof where);
    return where;
  };
  bool all_reached = true;
  bool all_staged = true;
  for (std::size_t rank = 0; rank < ends_.size(); ++rank) {
    compare_with(rank);
    const Where where = where_of(rank);
    all_reached = all_reached && where.from != kNowhere && where.to != kNowhere;
    all_staged = all_staged && where.stage != kNowhere;
  }
  if (!all_reached && !all_staged) return false;
  for (std::size_t rank = 0; rank < ends_.size(); ++rank) {
    const Where where = where_of(rank);
    ends_[rank] = all_staged ? reach(rank, where.stage, where.stage, where.factor)
                             : reach(rank, where.from, where.to, where.factor);
  }
  if (!all_staged) return true;
  Ends& own = ends_[board_->rank()];
  own = own_ends();
  own.from += segment_.offset * element_bytes();
  own.to += segment_.offset * element_bytes();
  return true;
}

// A peer's words decide where this rank reads and writes: they are held against the peer's arena.
Exchange::Ends Exchange::reach(std::size_t rank, std::uint64_t from, std::uint64_t to,
                               double factor) const {
  const auto memory = board_->memory(rank);
  const std::size_t segment_bytes = segment_.count * element_bytes();
  if (!fits(from, segment_bytes, memory) || !fits(to, segment_bytes, memory)) {
    throw Error(ErrorCode::kPeerLost,
                "rank " + std::to_string(rank) + " points outside of its shared arena", rank);
  }
  return {memory.data() + from, memory.data() + to, factor};
}

// Of what is under way, the runs before and behind the own share. Returns their bytes.
template <class F>
std::size_t Exchange::for_others_shares(F copy) const {
  const Slice own = share();
  const Slice before{segment_.offset, own.offset - segment_.offset};
  const std::size_t end = own.offset + own.count;
  const Slice behind{end, segment_.offset + segment_.count - end};
  for (const Slice& run : {before, behind}) {
    if (run.count > 0) {
      copy(run.offset * element_bytes(), offset_of(run), run.count * element_bytes());
    }
  }
  return (before.count + behind.count) * element_bytes();
}

// Takes the segment from `offset` on, and brings to the stage what others reduce of it. Segments
// are such that all shares are as many pages, where the stage has a page for each rank.
void Exchange::stage_from(std::size_t offset) {
  const std::span<std::byte> stage = board_->stage();
  const std::size_t page_each = board_->world_size() * kPageBytes;
  const std::size_t rest = stage.size() < page_each ? 0 : stage.size() % page_each;
  const std::size_t most = (stage.size() - rest) / element_bytes();
  is_staged_ = true;
  segment_ = {offset, std::min(operation_->signature.count - offset, most)};
  const std::byte* from = own_ends().from;
  const std::size_t copied =
      for_others_shares([&](std::size_t at, std::size_t at_stage, std::size_t count) {
        std::memcpy(stage.data() + at_stage, from + at, count);
      });
  board_->count_staged(copied);
}

void Exchange::fetch_results() noexcept {
  const std::span<std::byte> stage = board_->stage();
  std::byte* to = own_ends().to;
  const std::size_t copied =
      for_others_shares([&](std::size_t at, std::size_t at_stage, std::size_t count) {
        std::memcpy(to + at, stage.data() + at_stage, count);
      });
  board_->count_staged(copied);
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

// What this rank reduces for all, of what is under way.
Slice Exchange::share() const noexcept {
  const bool is_large = segment_.count * element_bytes() >= kPagesFrom;
  return piece_of(segment_, board_->rank(), board_->world_size(),
                  (is_large ? kPageBytes : kLineBytes) / element_bytes());
}

// In bytes from where what is under way begins.
std::size_t Exchange::offset_of(Slice run) const noexcept {
  return (run.offset - segment_.offset) * element_bytes();
}

// The others read what they reduce of this rank's, and get what it reduces for them.
void Exchange::begin_share() noexcept {
  phase_ = Phase::kReduces;
  rest_ = share();
  const std::size_t own = rest_.count * element_bytes();
  board_->count_sent(segment_.count * element_bytes() - own + (board_->world_size() - 1) * own);
}

void Exchange::reduce_piece() noexcept {
  const Reducer& reducer = *operation_->reducer;
  const Slice piece{rest_.offset, std::min(rest_.count, kPieceBytes / reducer.element_bytes())};
  if (ends_.size() == 2 && !any_factor()) {
    const std::size_t offset = offset_of(piece);
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
  const std::size_t offset = offset_of(block);
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

std::optional<Wait> Exchange::waiting() const noexcept {
  if (phase_ == Phase::kReduces) return std::nullopt;
  const std::size_t own = travels_with_post() ? 0 : share().count;
  Wait wait{.peer = std::min(seen_, board_->world_size() - 1),
            .step = phase_ == Phase::kMeets ? 0U : 1U,
            .step_count = travels_with_post() ? 1U : 2U,
            .step_bytes = own * element_bytes()};
  if (phase_ != Phase::kMeets) wait.bytes = (own - rest_.count) * element_bytes();
  return wait;
}

}  // namespace rota::collectives
