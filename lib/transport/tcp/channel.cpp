// Partial writes and reads of one message after the other.
#include "transport/tcp/channel.h"

#include <algorithm>
#include <string>

#include <rota/error.h>

#include "base/assert.h"
#include "memory/host.h"
#include "os/tcp_socket.h"

namespace rota::transport::tcp {
namespace {

// Stays in a second-level cache until it is reduced. Elements lie in it whole, none at its end in
// part: they come one after the other from its start.
constexpr std::size_t kSlotBytes = 256 * 1024;
static_assert(kSlotBytes % sizeof(double) == 0);

// Message headers travel as they lie in memory: that both hosts have one byte order, and one
// version of this header, their handshake has checked.
std::span<const std::byte> tail_of(const Header& header, std::size_t bytes) noexcept {
  return std::as_bytes(std::span(&header, 1)).last(bytes);
}

}  // namespace

Channel::Channel(auth::Stream stream, std::size_t peer) : stream_(std::move(stream)), peer_(peer) {
  if (!stream_) return;
  os::keep_alive(stream_.fd());
  os::set_no_delay(stream_.fd());
}

void Channel::throw_lost(const std::string& reason) const {
  throw Error(ErrorCode::kPeerLost,
              "the connection to rank " + std::to_string(peer_) + " is lost: " + reason, peer_);
}

std::string_view Channel::trouble() const noexcept {
  return send_lacks_memory_ || receive_lacks_memory_ ? "this host has no memory for its sockets"
                                                     : "";
}

void Channel::close() noexcept {
  stream_.reset();
  header_left_ = 0;
  payload_ = {};
  starved_ = false;
}

void Channel::start_send(const Header& header, std::span<const std::byte> payload) {
  ROTA_ASSERT(!sending() && header.bytes == payload.size());
  out_ = header;
  header_left_ = sizeof(Header);
  payload_ = payload;
}

Progress Channel::progress_send() {
  if (!sending()) return Progress::kDone;
  const os::Moved moved = stream_.send(tail_of(out_, header_left_), payload_);
  send_lacks_memory_ = moved.lacks_memory;
  if (moved.closed) throw_lost(moved.reason);
  const std::size_t of_header = std::min(moved.bytes, header_left_);
  header_left_ -= of_header;
  payload_ = payload_.subspan(moved.bytes - of_header);
  sent_bytes_.fetch_add(moved.bytes - of_header, std::memory_order_relaxed);
  if (!sending()) return Progress::kDone;
  return moved.bytes > 0 ? Progress::kSome : Progress::kNone;
}

std::size_t Channel::pull(std::span<std::byte> into) {
  // Decryption may be slower than the wire, which then never runs dry: sending has its turn too.
  if (stream_.is_encrypted()) into = into.first(std::min(into.size(), kSlotBytes));
  const os::Moved moved = stream_.receive(into);
  receive_lacks_memory_ = moved.lacks_memory;
  if (moved.closed) throw_lost(moved.reason);
  starved_ = moved.bytes < into.size();
  return moved.bytes;
}

const Header* Channel::incoming() {
  if (header_arrived_ < sizeof(Header)) {
    header_arrived_ += pull(std::as_writable_bytes(std::span(&in_, 1)).subspan(header_arrived_));
  }
  return header_arrived_ == sizeof(Header) ? &in_ : nullptr;
}

std::span<const std::byte> Channel::peek() {
  if (slot_.bytes().empty()) slot_ = memory::allocate_host(kSlotBytes);
  const auto slot = slot_.bytes();
  // Where a part of an element is left over, the rest of it has to come right behind it.
  if (slot_first_ == slot_last_) slot_first_ = slot_last_ = 0;
  const std::size_t wanted = std::min<std::uint64_t>(in_.bytes - pulled_, kSlotBytes - slot_last_);
  if (wanted > 0) {
    const std::size_t bytes = pull(slot.subspan(slot_last_, wanted));
    pulled_ += bytes;
    slot_last_ += bytes;
    staged_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  return slot.subspan(slot_first_, slot_last_ - slot_first_);
}

void Channel::release(std::size_t bytes) {
  slot_first_ += bytes;
  ROTA_ASSERT(slot_first_ <= slot_last_);
}

std::size_t Channel::receive(std::span<std::byte> into) {
  ROTA_ASSERT(slot_first_ == slot_last_);
  if (into.empty()) return 0;
  const std::size_t bytes =
      pull(into.first(std::min<std::uint64_t>(into.size(), in_.bytes - pulled_)));
  pulled_ += bytes;
  return bytes;
}

void Channel::finish_receive() {
  ROTA_ASSERT(pulled_ == in_.bytes && slot_first_ == slot_last_);
  header_arrived_ = 0;
  pulled_ = 0;
  slot_first_ = 0;
  slot_last_ = 0;
}

}  // namespace rota::transport::tcp
