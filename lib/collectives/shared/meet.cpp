// The start of a collective over shared memory: each rank posts, and continues once it has seen all
// posts. If there are only a few bytes of values, the posts contain them.
#include <algorithm>
#include <bit>
#include <cstring>

#include "collectives/algorithms.h"
#include "collectives/shared/run.h"

namespace rota::collectives {

void SharedRun::start(const Operation& operation) {
  operation_ = &operation;
  planned_ = operation.planned;
  segment_ = {0, call().count};
  own_ = {};
  element_shift_ = static_cast<std::size_t>(std::countr_zero(element_bytes()));
  is_staged_ = needs_stage(operation);
  // A rank that needs staging copies its first segment before it posts, and the post says so. If
  // all ranks do this, no rank waits again once it has seen all posts.
  if (is_staged_) stage_from(0);
  Flags::Content content{};
  const std::size_t content_bytes =
      travels_with_post(bytes_of(operation)) ? put_values(content) : put_offer(content);
  number_ = flags_->post(planned_->signature, operation.sequence, content, content_bytes);
  phase_ = Phase::kMeets;
  seen_ = 0;
}

std::size_t SharedRun::put_values(Flags::Content& content) const noexcept {
  if (bytes() == 0 || !gives(flags_->rank())) return 0;
  auto* to = reinterpret_cast<std::byte*>(content.data());
  std::memcpy(to, contribution_of(*operation_), bytes());
  reducer().pre_scale(to, call().count);
  return bytes();
}

std::size_t SharedRun::put_offer(Flags::Content& content) const noexcept {
  Offer offer = offer_of(*operation_, flags_->memory(flags_->rank()));
  offer.is_staged = is_staged_ ? 1 : 0;
  const Signature signature = operation_->signature();
  std::copy_n(signature.words().begin(), std::size(offer.signature), offer.signature);
  static_assert(sizeof offer <= sizeof content);
  std::memcpy(content.data(), &offer, sizeof offer);
  return sizeof offer;
}

// Returns the offer in a rank's post.
Offer SharedRun::offered_by(std::size_t rank) const noexcept {
  Offer offer;
  std::memcpy(&offer, posts_[rank]->bytes(), sizeof offer);
  return offer;
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
    if (!flags_->agrees(*post, number_))
      compare(seen_, Signature(*flags_->signature_of(seen_, number_)));
    posts_[seen_] = post;
  }
  return true;
}

void SharedRun::compare(std::size_t rank, const Signature& theirs) const {
  if (theirs == operation_->signature()) return;
  throw mismatch(operation_->signature(), theirs, rank);
}

// Returns false if there is a rank whose values peers cannot access. Then all ranks use staging
// buffers. All ranks get the same result.
bool SharedRun::all_are_reached() const {
  bool all = true;
  for (std::size_t rank = 0; rank < posts_.size(); ++rank) {
    const Offer offer = offered_by(rank);
    // A digest is quick to compare. Before ranks write to each other's memory, the whole signature
    // is compared.
    Signature::Words theirs{};
    std::ranges::copy(offer.signature, theirs.begin());
    compare(rank, Signature(theirs));
    all = all && is_reached(call(), rank, offer);
  }
  return all;
}

// The contributions are added in the ring's order: in chunk c, the ranks' order is c + 1, c + 2, …,
// c. In a reduce, all values are the root's chunk, which gives the order of a chain.
void SharedRun::add_posts() const noexcept {
  const std::size_t count = call().count;
  const std::size_t root = call().root;
  if (call().collective == Collective::kBroadcast) {
    if (bytes() == 0) return;  // Without values there may be no address.
    std::memcpy(buffer_of(*operation_, Buffer::kValues), posts_[root]->bytes(), bytes());
    return;
  }
  if (call().collective == Collective::kReduce) {
    return add_posts_of_chunk(root, {0, count});
  }
  if (count <= kChunkGrain) return add_posts_of_chunk(0, {0, count});  // One chunk has all values.
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
      reducer().add_few(values, from, slice.count, hop == n);
    }
  }
}

}  // namespace rota::collectives
