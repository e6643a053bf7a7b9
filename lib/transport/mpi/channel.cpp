// Posts sends and receives, and tests them in their order.
#include "transport/mpi/channel.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <rota/error.h>

#include "base/assert.h"
#include "base/sizes.h"
#include "memory/host_block.h"

namespace rota::transport::mpi {
namespace {

static_assert(MpiChannel::kPieceBytes % sizeof(double) == 0, "no piece cuts an element");
static_assert(Channel::kPartGrain % MpiChannel::kPieceBytes == 0, "a part ends with a piece");

}  // namespace

void MpiChannel::check(const char* function, int error) const {
  if (error == 0) return;
  throw Error(ErrorCode::kPeerLost,
              "a message between this rank and rank " + std::to_string(ends_.peer) +
                  " is lost: " + failure_of(world_.calls(), function, error),
              ends_.peer);
}

bool MpiChannel::has_ended(Part& part) const {
  bool is_done = false;
  check("MPI_Test", world_.calls().test(part.request, is_done));
  return is_done;
}

void MpiChannel::start_send(const Header& header, std::span<const std::byte> payload) {
  ROTA_ASSERT(sends_.is_empty() && unsent_.empty() && header.bytes >= payload.size());
  world_.require_open();
  out_ = header;
  unsent_ = payload;
  Part& part = sends_.add();
  part.bytes = 0;  // A header is no payload.
  check("MPI_Isend", world_.calls().send(&out_, sizeof out_, ends_.process, ends_.out_tag,
                                         world_.comm(), part.request));
}

void MpiChannel::send_more(std::span<const std::byte> payload) {
  ROTA_ASSERT(sends_.is_empty() && unsent_.empty());
  unsent_ = payload;
}

Progress MpiChannel::progress_send() {
  if (sends_.is_empty() && unsent_.empty()) return Progress::kDone;
  world_.require_open();
  Progress progress = Progress::kNone;
  while (!unsent_.empty() && sends_.count() <= kAhead) {
    const auto piece = unsent_.first(std::min(unsent_.size(), kPieceBytes));
    Part& part = sends_.add();
    part.bytes = piece.size();
    check("MPI_Isend",
          world_.calls().send(piece.data(), static_cast<int>(piece.size()), ends_.process,
                              ends_.out_tag + 1, world_.comm(), part.request));
    unsent_ = unsent_.subspan(piece.size());
    progress = Progress::kSome;
  }
  while (!sends_.is_empty() && has_ended(sends_.front())) {
    sent_bytes_.fetch_add(sends_.front().bytes, std::memory_order_relaxed);
    sends_.pop();
    progress = Progress::kSome;
  }
  return sends_.is_empty() && unsent_.empty() ? Progress::kDone : progress;
}

void MpiChannel::post_receive(Part& part, std::byte* at, std::size_t bytes, int tag) const {
  part.at = at;
  part.bytes = bytes;
  check("MPI_Irecv", world_.calls().receive(at, static_cast<int>(bytes), ends_.process, tag,
                                            world_.comm(), part.request));
}

const Header* MpiChannel::incoming() {
  if (header_has_arrived_) return &in_;
  world_.require_open();
  if (!header_is_asked_) {
    post_receive(header_, reinterpret_cast<std::byte*>(&in_), sizeof in_, ends_.in_tag);
    header_is_asked_ = true;
  }
  if (!has_ended(header_)) return nullptr;
  header_is_asked_ = false;
  header_has_arrived_ = true;
  return &in_;
}

std::size_t MpiChannel::next_piece() const noexcept {
  return base::at_most(kPieceBytes, in_.bytes - asked_);
}

void MpiChannel::post_piece(std::byte* at) {
  const std::size_t bytes = next_piece();
  post_receive(pieces_.add(), at, bytes, ends_.in_tag + 1);
  asked_ += bytes;
}

std::span<const std::byte> MpiChannel::peek() {
  world_.require_open();
  // A piece that is on its way to the caller's memory cannot be peeked at.
  ROTA_ASSERT(fills_slots_ || pieces_.is_empty());
  if (slots_.bytes().empty()) slots_ = memory::allocate_host(kSlots * kPieceBytes);
  const std::size_t kept = peeked_.empty() ? 0 : 1;
  while (pieces_.count() + kept < kSlots && asked_ < in_.bytes) {
    fills_slots_ = true;
    post_piece(slots_.bytes().data() + slot_ * kPieceBytes);
    slot_ = (slot_ + 1) % kSlots;
  }
  if (peeked_.empty() && !pieces_.is_empty() && has_ended(pieces_.front())) {
    peeked_ = {pieces_.front().at, pieces_.front().bytes};
    staged_bytes_.fetch_add(peeked_.size(), std::memory_order_relaxed);
    pieces_.pop();
  }
  return peeked_;
}

void MpiChannel::release(std::size_t bytes) {
  ROTA_ASSERT(bytes <= peeked_.size());
  peeked_ = peeked_.subspan(bytes);
  taken_ += bytes;
  if (peeked_.empty() && pieces_.is_empty()) fills_slots_ = false;
}

std::size_t MpiChannel::receive(std::span<std::byte> into) {
  if (into.empty()) return 0;
  world_.require_open();
  while (!fills_slots_ && asked_ < in_.bytes && pieces_.count() < kAhead) {
    const std::size_t offset = asked_ - taken_;
    if (offset + next_piece() > into.size()) break;
    post_piece(into.data() + offset);
  }
  if (fills_slots_ || (pieces_.is_empty() && asked_ < in_.bytes)) {
    const auto view = peek();  // The caller takes the next piece in parts.
    const std::size_t bytes = std::min(view.size(), into.size());
    if (bytes > 0) std::memcpy(into.data(), view.data(), bytes);
    release(bytes);
    return bytes;
  }
  std::size_t bytes = 0;
  while (!pieces_.is_empty() && has_ended(pieces_.front())) {
    ROTA_ASSERT(pieces_.front().at == into.data() + bytes);
    bytes += pieces_.front().bytes;
    pieces_.pop();
  }
  taken_ += bytes;
  return bytes;
}

void MpiChannel::finish_receive() {
  ROTA_ASSERT(header_has_arrived_ && taken_ == in_.bytes && peeked_.empty());
  world_.require_open();
  header_has_arrived_ = false;
  asked_ = 0;
  taken_ = 0;
  post_receive(header_, reinterpret_cast<std::byte*>(&in_), sizeof in_, ends_.in_tag);
  header_is_asked_ = true;
}

// A part that has failed is not under way any more.
void MpiChannel::cancel(Part& part) noexcept {
  if (part.request != 0) world_.calls().cancel(part.request);
}

void MpiChannel::cancel() noexcept {
  if (header_is_asked_) cancel(header_);
  for (std::size_t left = pieces_.count(); left > 0; --left) {
    Part part = pieces_.front();
    pieces_.pop();
    cancel(part);
    pieces_.add() = part;
  }
}

bool MpiChannel::settle() noexcept {
  const auto has_ended = [this](Part& part) {
    bool is_done = false;
    return world_.calls().test(part.request, is_done) != 0 || is_done;
  };
  if (header_is_asked_ && has_ended(header_)) header_is_asked_ = false;
  for (Parts* parts : {&pieces_, &sends_}) {
    for (std::size_t left = parts->count(); left > 0; --left) {
      Part part = parts->front();
      parts->pop();
      if (!has_ended(part)) parts->add() = part;
    }
  }
  return !header_is_asked_ && pieces_.is_empty() && sends_.is_empty();
}

bool MpiChannel::keeps_buffers() const noexcept {
  return !sends_.is_empty() || (!pieces_.is_empty() && !fills_slots_);
}

}  // namespace rota::transport::mpi
