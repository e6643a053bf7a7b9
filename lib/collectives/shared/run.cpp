// Meets, reduces, and waits until all have.
#include "collectives/shared/run.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include <rota/error.h>

#include "base/assert.h"
#include "collectives/algorithms.h"

namespace rota::collectives {
namespace {

// No two ranks reduce of one page: a processor that fetches ahead what comes next, as far as the
// page's end, would take lines away from whoever writes them.
constexpr std::size_t kPageShift = 12;
constexpr std::size_t kPageBytes = std::size_t{1} << kPageShift;

constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

std::uint64_t offset_in(std::span<const std::byte> memory, const void* start,
                        std::size_t bytes) noexcept {
  const auto* first = static_cast<const std::byte*>(start);
  const bool inside = first >= memory.data() && first <= memory.data() + memory.size() &&
                      bytes <= static_cast<std::size_t>(memory.data() + memory.size() - first);
  return inside ? static_cast<std::uint64_t>(first - memory.data()) : kNowhere;
}

bool fits(std::uint64_t offset, std::size_t bytes, std::span<const std::byte> memory) noexcept {
  return offset <= memory.size() && bytes <= memory.size() - offset;
}

std::byte* buffer_of(const Operation& operation, Buffer buffer) noexcept {
  return operation.buffers[static_cast<std::size_t>(buffer)];
}

Buffer contribution_in(const Operation& operation) noexcept {
  return operation.in_place ? Buffer::kValues : Buffer::kInput;
}

const std::byte* contribution_of(const Operation& operation) noexcept {
  return buffer_of(operation, contribution_in(operation));
}

// Whether a rank has values that count in the result, and whether it gets that.
bool gives_in(const Signature& signature, std::size_t rank) noexcept {
  return signature.collective != Collective::kBroadcast || rank == signature.root;
}
bool takes_in(const Signature& signature, std::size_t rank) noexcept {
  if (!has_root(signature.collective)) return true;
  return (rank == signature.root) == (signature.collective == Collective::kReduce);
}

Error points_outside(std::size_t rank) {
  return {ErrorCode::kPeerLost,
          "rank " + std::to_string(rank) + " points outside of its shared arena", rank};
}

}  // namespace

struct SharedRun::Where {
  std::uint64_t from = kNowhere;  // Offsets in the rank's own memory.
  std::uint64_t to = kNowhere;
  double factor = 1;                // Each rank has its own.
  std::uint32_t is_list = 0;        // There is a PartList at `from`.
  std::uint32_t is_staged = 0;      // The first segment's values are on the stage.
  std::uint64_t signature[3] = {};  // All but its last word, which is 0.
};

SharedRun::SharedRun(Flags& flags, std::span<transport::Channel* const> channels, std::size_t place,
                     std::size_t first_stream)
    : flags_(&flags),
      channels_(channels),
      place_(static_cast<std::uint32_t>(place)),
      first_stream_(static_cast<std::uint32_t>(first_stream)),
      posts_(flags.world_size()),
      share_(flags.world_size()) {}

SharedRun::Where SharedRun::own_place(const Operation& operation) const noexcept {
  const auto reached = flags_->memory(flags_->rank());
  const double factor = operation.reducer->pre_factor();
  if (operation.parts) {
    const std::uint64_t list = offset_in(reached, operation.parts, sizeof *operation.parts);
    return {.from = list, .to = list, .factor = factor, .is_list = 1};
  }
  const std::size_t bytes = bytes_of(operation);
  return {.from = offset_in(reached, contribution_of(operation), bytes),
          .to = offset_in(reached, buffer_of(operation, Buffer::kValues), bytes),
          .factor = factor};
}

bool SharedRun::is_reached(const Signature& signature, std::size_t rank,
                           const Where& where) noexcept {
  return (where.from != kNowhere || !gives_in(signature, rank)) &&
         (where.to != kNowhere || !takes_in(signature, rank));
}

bool SharedRun::gives(std::size_t rank) const noexcept {
  return gives_in(operation_->signature, rank);
}
bool SharedRun::takes(std::size_t rank) const noexcept {
  return takes_in(operation_->signature, rank);
}

bool SharedRun::needs_stage(const Operation& operation) const noexcept {
  return !travels_with_post(bytes_of(operation)) &&
         !is_reached(operation.signature, flags_->rank(), own_place(operation));
}

void SharedRun::add_streams(const Operation& operation, Streams& streams) const noexcept {
  if (!needs_stage(operation)) return streams.add(first_stream_ + place_);
  for (std::size_t i = 0; i < kMostRunning; ++i) streams.add(first_stream_ + i);
}

void SharedRun::start(const Operation& operation) {
  operation_ = &operation;
  segment_ = {0, operation.signature.count};
  own_ = {};
  element_shift_ = static_cast<std::size_t>(std::countr_zero(element_bytes()));
  is_staged_ = needs_stage(operation);
  // Where all are alike, one post does for the memory and for the first segment.
  if (is_staged_) stage_from(0);
  Flags::Content content{};
  const std::size_t content_bytes =
      travels_with_post(bytes_of(operation)) ? put_values(content) : put_place(content);
  number_ = flags_->post(pack(operation.signature), content, content_bytes);
  phase_ = Phase::kMeets;
  seen_ = 0;
}

std::size_t SharedRun::put_values(Flags::Content& content) const noexcept {
  if (bytes() == 0 || !gives(flags_->rank())) return 0;
  auto* to = reinterpret_cast<std::byte*>(content.data());
  std::memcpy(to, contribution_of(*operation_), bytes());
  operation_->reducer->pre_scale(to, operation_->signature.count);
  return bytes();
}

std::size_t SharedRun::put_place(Flags::Content& content) const noexcept {
  Where where = own_place(*operation_);
  where.is_staged = is_staged_ ? 1 : 0;
  const Flags::Signature signature = pack(operation_->signature);
  std::copy_n(signature.begin(), std::size(where.signature), where.signature);
  static_assert(sizeof where <= sizeof content);
  std::memcpy(content.data(), &where, sizeof where);
  return sizeof where;
}

// What a rank has posted.
SharedRun::Where SharedRun::where_of(std::size_t rank) const noexcept {
  Where where;
  std::memcpy(&where, posts_[rank]->bytes(), sizeof where);
  return where;
}

Turn SharedRun::step() {
  const Turn turn = go_on();
  if (turn == Turn::kDone) phase_ = Phase::kDone;
  return turn;
}

Turn SharedRun::go_on() {
  switch (phase_) {
    case Phase::kMeets:
      return meet();
    case Phase::kStages:
      return stage();
    case Phase::kReduces:
      return reduce();
    case Phase::kWaits:
      return wait_for_all();
    case Phase::kDone:
      break;
  }
  ROTA_ASSERT(false);
}

Turn SharedRun::meet() {
  if (!flags_->is_turn_of(number_) || !all_have_posted()) return Turn::kNothing;
  if (travels_with_post(bytes())) {
    if (takes(flags_->rank())) add_posts();
    if (gives(flags_->rank())) flags_->count_sent(others_that_take() * bytes());
    flags_->pass_turn();
    return Turn::kDone;
  }
  if (all_are_reached()) {
    cut();
    return begin_share();
  }
  if (!is_staged_) stage_from(0);
  phase_ = Phase::kStages;
  seen_ = 0;
  return stage();
}

bool SharedRun::all_have_posted() {
  for (; seen_ < flags_->world_size(); ++seen_) {
    const Post* post = flags_->post_of(seen_, number_);
    if (!post) return false;
    if (!flags_->agrees(*post, number_)) compare_digest(seen_);
    posts_[seen_] = post;
  }
  return true;
}

// Whose digest differs.
void SharedRun::compare_digest(std::size_t rank) const {
  const Flags::Signature& theirs = *flags_->signature_of(rank, number_);
  if (theirs == pack(operation_->signature)) return;
  throw mismatch(operation_->signature, unpack(theirs), rank);
}

// A digest is quick to compare; before ranks write to each other's memory, all of it is.
void SharedRun::compare_signature(std::size_t rank, const Where& where) const {
  Flags::Signature theirs{};
  std::ranges::copy(where.signature, theirs.begin());
  if (theirs == pack(operation_->signature)) return;
  throw mismatch(operation_->signature, unpack(theirs), rank);
}

// False where some rank's values cannot be reached, and so all go by stages; all ranks find the
// same.
bool SharedRun::all_are_reached() const {
  bool all = true;
  for (std::size_t rank = 0; rank < posts_.size(); ++rank) {
    const Where where = where_of(rank);
    compare_signature(rank, where);
    all = all && is_reached(operation_->signature, rank, where);
  }
  return all;
}

// The contributions are added in the ring's order: to chunk c, those of c + 1, c + 2, …, c. All is
// the chunk of a root: that is the order of a chain.
void SharedRun::add_posts() const noexcept {
  const std::size_t count = operation_->signature.count;
  const std::size_t root = operation_->signature.root;
  if (operation_->signature.collective == Collective::kBroadcast) {
    if (bytes() == 0) return;  // Of no address.
    std::memcpy(buffer_of(*operation_, Buffer::kValues), posts_[root]->bytes(), bytes());
    return;
  }
  if (operation_->signature.collective == Collective::kReduce) {
    return add_posts_of_chunk(root, {0, count});
  }
  if (count <= kChunkGrain) return add_posts_of_chunk(0, {0, count});  // It has them all.
  for (std::size_t chunk = 0; chunk < posts_.size(); ++chunk) {
    add_posts_of_chunk(chunk, chunk_of({0, count}, chunk, posts_.size()));
  }
}

void SharedRun::add_posts_of_chunk(std::size_t chunk, Slice slice) const noexcept {
  if (slice.count == 0) return;
  const std::size_t n = posts_.size();
  const std::size_t offset = slice.offset << element_shift_;
  std::byte* values = buffer_of(*operation_, Buffer::kValues) + offset;
  std::size_t rank = chunk;
  for (std::size_t hop = 1; hop <= n; ++hop) {
    rank = rank + 1 == n ? 0 : rank + 1;
    const std::byte* from = posts_[rank]->bytes() + offset;
    if (hop == 1) {
      std::memcpy(values, from, slice.count << element_shift_);
    } else {
      operation_->reducer->add_few(values, from, slice.count, hop == n);
    }
  }
}

// A post has said it of a first segment; later ones are counted.
Turn SharedRun::stage() {
  if (!all_have_staged()) return Turn::kNothing;
  return begin_share();
}

bool SharedRun::all_have_staged() noexcept {
  const bool is_first = segment_.offset == 0;
  for (; seen_ < flags_->world_size(); ++seen_) {
    const bool is_said = is_first && where_of(seen_).is_staged != 0;
    if (!is_said && !flags_->is_staged(seen_, awaited_)) return false;
  }
  return true;
}

// Pages are those of rank 0's values, where these lie in one run: all ranks know it. So is who
// begins with the first of them, so that it is the same each time, and that of others another one.
void SharedRun::cut() noexcept {
  const std::size_t n = flags_->world_size();
  const Where first = is_staged_ ? Where{} : where_of(0);
  const std::uint64_t from = first.is_list != 0 ? kNowhere : first.from;
  lead_ = from == kNowhere ? 0 : from % kPageBytes >> element_shift_;
  first_rank_ = from == kNowhere ? 0 : from / kPageBytes % n;
  const std::size_t page_shift = kPageShift - element_shift_;
  pages_ = (lead_ + segment_.count + (std::size_t{1} << page_shift) - 1) >> page_shift;
  own_ = share_of(flags_->rank());
}

// Of the ranks in the order in which they reduce pages.
std::size_t SharedRun::place_of(std::size_t rank) const noexcept {
  const std::size_t n = flags_->world_size();
  return rank >= first_rank_ ? rank - first_rank_ : rank + n - first_rank_;
}

// What a rank reduces for all, of what is under way.
Slice SharedRun::share_of(std::size_t rank) const noexcept {
  const std::size_t page_shift = kPageShift - element_shift_;
  const std::size_t end = lead_ + segment_.count;
  const Slice pages = slice_of(pages_, place_of(rank), flags_->world_size());
  const std::size_t from = std::clamp(pages.offset << page_shift, lead_, end);
  const std::size_t to = std::clamp((pages.offset + pages.count) << page_shift, lead_, end);
  return {segment_.offset + from - lead_, to - from};
}

// The others read what they reduce of this rank's, and get what it reduces for them.
Turn SharedRun::begin_share() {
  const Slice own = own_;
  const Signature& signature = operation_->signature;
  const bool is_rooted = signature.collective == Collective::kReduce;
  share_.begin(*operation_->reducer, signature.count, own,
               is_rooted ? std::optional<std::size_t>(signature.root) : std::nullopt);
  // Nobody waits for who has none: the others' lists may be of something else by now.
  for (std::size_t rank = 0; own.count > 0 && rank < posts_.size(); ++rank) reach_share_of(rank);
  flags_->count_sent(sent_bytes(own.count * element_bytes()));
  phase_ = Phase::kReduces;
  return reduce();
}

void SharedRun::reach_share_of(std::size_t rank) {
  const bool is_own = rank == flags_->rank();
  const Where where = where_of(rank);
  Share::Ends& ends = share_.of(rank);
  ends = {.gives = gives(rank), .takes = takes(rank), .factor = where.factor};
  if (!ends.gives && !ends.takes) return;
  ends.reach = is_own ? own_reach() : reach_of(rank, where);
  const std::size_t before = is_staged_ && !is_own ? bytes_before(segment_) : 0;
  if (!ends.reach.skip(bytes_before(own_) - before)) throw points_outside(rank);
}

// What others read of this rank's values, and what it writes into those of others.
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

// All of them, in the caller's memory.
Reach SharedRun::own_reach() const noexcept {
  if (operation_->parts) {
    return {flags_->memory(flags_->rank()), *operation_->parts, element_bytes()};
  }
  std::byte* from = buffer_of(*operation_, contribution_in(*operation_));
  const bool has_results = takes(flags_->rank());
  return {from, has_results ? buffer_of(*operation_, Buffer::kValues) : from, bytes()};
}

// All of a peer's or, where staged, the segment's.
Reach SharedRun::reach_of(std::size_t rank, const Where& where) const {
  const auto memory = flags_->memory(rank);
  if (!is_staged_ && where.is_list != 0) {
    if (!fits(where.from, sizeof(PartList), memory) || where.from % alignof(PartList) != 0) {
      throw points_outside(rank);
    }
    const auto* list = reinterpret_cast<const PartList*>(memory.data() + where.from);
    return {memory, *list, element_bytes()};
  }
  const std::size_t run_bytes = segment_.count * element_bytes();
  std::uint64_t from = where.from;
  std::uint64_t to = where.to;
  if (is_staged_) from = to = flags_->stage_of(rank);
  if (!gives(rank)) from = to;
  if (!takes(rank)) to = from;
  if (!fits(from, run_bytes, memory) || !fits(to, run_bytes, memory)) throw points_outside(rank);
  return {memory.data() + from, memory.data() + to, run_bytes};
}

Turn SharedRun::reduce() {
  if (flags_->broken()) return Turn::kNothing;
  if (const auto rank = share_.reduce_piece()) throw points_outside(*rank);
  if (share_.rest().count > 0) return Turn::kMoved;
  awaited_ = own_.count > 0 ? flags_->say_done() : flags_->pass_over();
  if (!is_staged_) flags_->pass_turn();
  phase_ = Phase::kWaits;
  seen_ = 0;
  return wait_for_all() == Turn::kDone ? Turn::kDone : Turn::kMoved;
}

Turn SharedRun::wait_for_all() {
  if (!all_are_done()) return Turn::kNothing;
  return is_staged_ ? go_on_with_next_segment() : Turn::kDone;
}

bool SharedRun::all_are_done() noexcept {
  for (; seen_ < flags_->world_size(); ++seen_) {
    if (!flags_->is_done(seen_, awaited_) && !has_no_share(seen_)) return false;
  }
  return true;
}

// Brings back what others have reduced of this one.
Turn SharedRun::go_on_with_next_segment() {
  if (takes(flags_->rank())) {
    const std::byte* from = flags_->stage().data();
    const auto bring_back = [&](const Reach& own, std::size_t at, std::size_t count) {
      std::memcpy(own.to(), from + at, count);
    };
    flags_->count_staged(for_others_shares(bring_back));
  }
  const std::size_t next = segment_.offset + segment_.count;
  if (next == operation_->signature.count) {
    flags_->pass_turn();
    return Turn::kDone;
  }
  stage_from(next);
  phase_ = Phase::kStages;
  seen_ = 0;
  return Turn::kMoved;
}

// Takes the segment from `offset` on, and brings to the stage what others reduce of it. Segments
// are such that all shares are as many pages, where the stage has a page for each rank.
void SharedRun::stage_from(std::size_t offset) {
  const std::span<std::byte> stage = flags_->stage();
  const std::size_t page_each = flags_->world_size() * kPageBytes;
  const std::size_t rest = stage.size() < page_each ? 0 : stage.size() % page_each;
  const std::size_t most = (stage.size() - rest) / element_bytes();
  is_staged_ = true;
  segment_ = {offset, std::min(operation_->signature.count - offset, most)};
  cut();
  if (gives(flags_->rank())) {
    const auto bring = [&](const Reach& own, std::size_t at, std::size_t count) {
      std::memcpy(stage.data() + at, own.from(), count);
    };
    flags_->count_staged(for_others_shares(bring));
  }
  awaited_ = flags_->say_staged();
}

// Calls copy(own values, bytes from where the stage begins, how many) for each run of what is under
// way before and behind the own share. Returns the bytes of all.
template <class F>
std::size_t SharedRun::for_others_shares(F copy) const {
  const Slice own = own_;
  const std::size_t end = own.offset + own.count;
  const Slice before{segment_.offset, own.offset - segment_.offset};
  const Slice behind{end, segment_.offset + segment_.count - end};
  for (const Slice& others : {before, behind}) {
    Reach reach = own_reach();
    std::size_t left = others.count * element_bytes();
    std::size_t at = bytes_before(others) - bytes_before(segment_);
    bool is_there = reach.skip(bytes_before(others), left > 0);
    while (is_there && left > 0) {
      const std::size_t count = std::min(left, reach.bytes());
      copy(reach, at, count);
      at += count;
      left -= count;
      is_there = reach.skip(count, left > 0);
    }
    ROTA_ASSERT(is_there);
  }
  return (before.count + behind.count) * element_bytes();
}

// The header of the plan that the peer is in.
void SharedRun::compare_with(std::size_t peer) const {
  if (!channels_[peer]) return;
  const transport::Header* header = channels_[peer]->incoming();
  if (!header) return;
  const Signature theirs = unpack(header->signature);
  // A message is no collective, and a peer that has done with this one may be in the next.
  const bool is_message = theirs.collective == Collective::kSend;
  if (is_message || theirs.sequence != operation_->signature.sequence) return;
  throw mismatch(operation_->signature, theirs, peer);
}

std::optional<Wait> SharedRun::waiting() const noexcept {
  if (phase_ == Phase::kReduces || phase_ == Phase::kDone) return std::nullopt;
  const bool travels = travels_with_post(bytes());
  const std::size_t own_bytes = travels ? 0 : own_.count * element_bytes();
  Wait wait{.peer = std::min(seen_, flags_->world_size() - 1),
            .step = phase_ == Phase::kWaits ? 1U : 0U,
            .step_count = travels ? 1U : 2U,
            .step_bytes = own_bytes};
  if (phase_ == Phase::kWaits) wait.bytes = own_bytes;
  return wait;
}

}  // namespace rota::collectives
