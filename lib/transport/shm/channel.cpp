// Publishes where a payload is, or copies it through the staging ring. What one side stores with
// release, the other side loads with acquire: `published` and `staged` show bytes that may now be
// read, `taken` and `unstaged` show bytes that may now be written again. A side reads its own
// counters relaxed.
#include "transport/shm/channel.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <rota/error.h>

#include "base/assert.h"

namespace rota::transport::shm {
namespace {

constexpr std::size_t kRingBytes = 256 * 1024;  // Half a usual second-level cache.

// Both sides move on to the next cache line before a message, so that no element crosses the end of
// the ring.
constexpr std::uint64_t next_line(std::uint64_t position) noexcept {
  return (position + kLine - 1) / kLine * kLine;
}
static_assert(kRingBytes % kLine == 0);

}  // namespace

MailboxChannel::MailboxChannel(const Ends& ends, memory::Arena& arena) noexcept
    : out_(ends.out),
      in_(ends.in),
      arena_(arena),
      own_bytes_(ends.own_bytes),
      peer_bytes_(ends.peer_bytes),
      peer_(ends.peer),
      abort_word_(ends.abort_word) {}

bool MailboxChannel::in_place(std::span<const std::byte> payload) const noexcept {
  return payload.data() >= own_bytes_.data() &&
         payload.data() + payload.size() <= own_bytes_.data() + own_bytes_.size();
}

void MailboxChannel::start_send(const Header& header, std::span<const std::byte> payload) {
  ROTA_ASSERT(header.bytes >= payload.size() && not_given_ == 0);
  not_given_ = header.bytes - payload.size();
  if (header.bytes == 0 || (not_given_ == 0 && in_place(payload))) {
    out_.offset =
        payload.empty() ? 0 : static_cast<std::uint64_t>(payload.data() - own_bytes_.data());
    out_.ring_bytes = 0;
  } else {
    if (ring_.bytes().empty()) ring_ = arena_.allocate(kRingBytes);
    out_.offset = static_cast<std::uint64_t>(ring_.bytes().data() - own_bytes_.data());
    out_.ring_bytes = kRingBytes;
    staged_ = next_line(staged_);
    stage(payload);
  }
  sent_bytes_.fetch_add(payload.size(), std::memory_order_relaxed);
  out_.header = header;
  out_.published.store(++sent_, std::memory_order_release);
  ring();
}

void MailboxChannel::stage(std::span<const std::byte> payload) noexcept {
  to_stage_ = payload;
  fill_ring();
}

void MailboxChannel::send_more(std::span<const std::byte> payload) {
  ROTA_ASSERT(to_stage_.empty() && payload.size() <= not_given_);
  not_given_ -= payload.size();
  sent_bytes_.fetch_add(payload.size(), std::memory_order_relaxed);
  stage(payload);
  ring();
}

Progress MailboxChannel::fill_ring() noexcept {
  const std::uint64_t room = kRingBytes - (staged_ - out_.unstaged.load(std::memory_order_acquire));
  const std::size_t start = staged_ % kRingBytes;
  const std::size_t bytes =
      std::min({static_cast<std::size_t>(room), to_stage_.size(), kRingBytes - start});
  if (bytes == 0) return Progress::kNone;
  std::memcpy(ring_.bytes().data() + start, to_stage_.data(), bytes);
  to_stage_ = to_stage_.subspan(bytes);
  staged_ += bytes;
  staged_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  out_.staged.store(staged_, std::memory_order_release);
  return Progress::kSome;
}

Progress MailboxChannel::progress_send() {
  if (!to_stage_.empty()) {
    const Progress progress = fill_ring();
    if (progress != Progress::kNone) ring();
    return progress;
  }
  if (not_given_ > 0) return Progress::kDone;
  return out_.taken.load(std::memory_order_acquire) == sent_ ? Progress::kDone : Progress::kNone;
}

const Header* MailboxChannel::incoming() {
  return in_.published.load(std::memory_order_acquire) > received_ ? &in_.header : nullptr;
}

std::span<const std::byte> MailboxChannel::peek() {
  const std::uint64_t rest = in_.header.bytes - offset_;
  std::uint64_t start = in_.offset + offset_;
  std::uint64_t available = rest;
  if (in_.ring_bytes != 0) {
    const std::uint64_t read = in_.unstaged.load(std::memory_order_relaxed);
    const std::uint64_t in_ring = in_.staged.load(std::memory_order_acquire) - read;
    const std::uint64_t position = read % in_.ring_bytes;
    start = in_.offset + position;
    available = std::min({rest, in_ring, in_.ring_bytes - position});
  }
  // The peer's values decide where this rank reads: check that these bytes are inside the peer's
  // arena.
  if (start > peer_bytes_.size() || available > peer_bytes_.size() - start) {
    throw Error(ErrorCode::kPeerLost,
                "rank " + std::to_string(peer_) + " points outside of its shared arena", peer_);
  }
  return peer_bytes_.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(available));
}

void MailboxChannel::release(std::size_t bytes) {
  offset_ += bytes;
  if (in_.ring_bytes != 0) {
    const std::uint64_t read = in_.unstaged.load(std::memory_order_relaxed);
    in_.unstaged.store(read + bytes, std::memory_order_release);
    ring();
  }
}

std::size_t MailboxChannel::receive(std::span<std::byte> into) {
  const auto view = peek();
  const std::size_t bytes = std::min(view.size(), into.size());
  if (bytes == 0) return 0;
  std::memcpy(into.data(), view.data(), bytes);
  release(bytes);
  return bytes;
}

void MailboxChannel::finish_receive() {
  ROTA_ASSERT(offset_ == in_.header.bytes);
  offset_ = 0;
  const std::uint64_t read = in_.unstaged.load(std::memory_order_relaxed);
  // Relaxed: the sender uses this room only for the next message, after it has acquired `taken`.
  in_.unstaged.store(next_line(read), std::memory_order_relaxed);
  in_.taken.store(++received_, std::memory_order_release);
  ring();
}

}  // namespace rota::transport::shm
