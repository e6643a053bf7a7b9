// Sends and receives one message after another, with partial writes and reads.
#include "transport/tcp/channel.h"

#include <algorithm>
#include <chrono>
#include <string>

#include <rota/error.h>

#include "base/assert.h"
#include "base/sizes.h"
#include "memory/host_block.h"
#include "os/tcp_socket.h"

namespace rota::transport::tcp {
namespace {

// The size of a channel's slot, into which bytes to be reduced are received. The slot stays in a
// second-level cache until its elements are reduced. Elements are placed one after another from the
// start of the slot and fill it exactly, so no element is cut at its end.
constexpr std::size_t kSlotBytes = 256 * 1024;
static_assert(kSlotBytes % sizeof(double) == 0);

// When a send has failed, bytes of the peer may still be unread. If nobody reads them for this long
// in all, nobody wants them.
constexpr std::chrono::milliseconds kLastReads{100};

// Returns the last bytes of a header. A header is sent as the bytes that it has in memory: the
// handshake has checked that both hosts have the same byte order and the same version of this
// header.
std::span<const std::byte> tail_of(const Header& header, std::size_t bytes) noexcept {
  return std::as_bytes(std::span(&header, 1)).last(bytes);
}

}  // namespace

SocketChannel::SocketChannel(auth::Stream stream, std::size_t peer)
    : stream_(std::move(stream)), peer_(peer) {
  if (!stream_) return;
  os::keep_alive(stream_.fd());
  os::set_no_delay(stream_.fd());
}

// Names the first failure of a send, if there was one: later calls of the socket say less.
void SocketChannel::throw_lost(const std::string& reason) const {
  throw Error(ErrorCode::kPeerLost,
              "the connection to rank " + std::to_string(peer_) +
                  " is lost: " + (send_failure_.empty() ? reason : send_failure_),
              peer_);
}

std::string_view SocketChannel::trouble() const noexcept {
  return send_lacks_memory_ || receive_lacks_memory_ ? "this host has no memory for its sockets"
                                                     : "";
}

void SocketChannel::close() noexcept {
  stream_.reset();
  header_left_ = 0;
  payload_ = {};
  send_failed_at_.reset();
  send_failure_.clear();
  starved_ = false;
}

void SocketChannel::start_send(const Header& header, std::span<const std::byte> payload) {
  ROTA_ASSERT(!sending() && header.bytes >= payload.size());
  out_ = header;
  header_left_ = sizeof(Header);
  payload_ = payload;
}

void SocketChannel::send_more(std::span<const std::byte> payload) {
  ROTA_ASSERT(!sending());
  payload_ = payload;
}

Progress SocketChannel::progress_send() {
  if (!sending()) return Progress::kDone;
  const os::Moved moved = stream_.send(tail_of(out_, header_left_), payload_);
  send_lacks_memory_ = moved.lacks_memory;
  if (moved.closed) return leave_it_to_reads(moved.reason);
  const std::size_t of_header = std::min(moved.bytes, header_left_);
  header_left_ -= of_header;
  payload_ = payload_.subspan(moved.bytes - of_header);
  sent_bytes_.fetch_add(moved.bytes - of_header, std::memory_order_relaxed);
  if (!sending()) return Progress::kDone;
  return moved.bytes > 0 ? Progress::kSome : Progress::kNone;
}

// Returns kNone while bytes of the peer are unread, so that they are read first. They may complete
// an operation, or show that the peer's call differs from the call of this rank. The read that
// finds the end of the connection throws. This function throws if there is nothing to read, or if
// nobody reads it.
Progress SocketChannel::leave_it_to_reads(const std::string& reason) {
  const base::TimePoint now = base::Clock::now();
  if (!send_failed_at_) {
    send_failed_at_ = now;
    send_failure_ = reason;
  }
  std::byte next{};
  const bool has_unread = stream_.has_unread() || os::peek_some(stream_.fd(), {&next, 1}).bytes > 0;
  if (!has_unread || now - *send_failed_at_ >= kLastReads) throw_lost(send_failure_);
  return Progress::kNone;
}

std::size_t SocketChannel::pull(std::span<std::byte> into) {
  // Decryption may be slower than the wire. Then the wire always has more data, and this limit ends
  // the read, so that the thread can also send.
  if (stream_.is_encrypted()) into = into.first(std::min(into.size(), kSlotBytes));
  const os::Moved moved = stream_.receive(into);
  receive_lacks_memory_ = moved.lacks_memory;
  if (moved.closed) throw_lost(moved.reason);
  starved_ = moved.bytes < into.size();
  return moved.bytes;
}

const Header* SocketChannel::incoming() {
  if (header_arrived_ < sizeof(Header)) {
    header_arrived_ += pull(std::as_writable_bytes(std::span(&in_, 1)).subspan(header_arrived_));
  }
  return header_arrived_ == sizeof(Header) ? &in_ : nullptr;
}

std::span<const std::byte> SocketChannel::peek() {
  if (slot_.bytes().empty()) slot_ = memory::allocate_host(kSlotBytes);
  const auto slot = slot_.bytes();
  // If the slot still holds a part of an element, the rest of the element must follow that part.
  if (slot_first_ == slot_last_) slot_first_ = slot_last_ = 0;
  const std::size_t wanted = base::at_most(kSlotBytes - slot_last_, in_.bytes - pulled_);
  if (wanted > 0) {
    const std::size_t bytes = pull(slot.subspan(slot_last_, wanted));
    pulled_ += bytes;
    slot_last_ += bytes;
    staged_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  return slot.subspan(slot_first_, slot_last_ - slot_first_);
}

void SocketChannel::release(std::size_t bytes) {
  slot_first_ += bytes;
  ROTA_ASSERT(slot_first_ <= slot_last_);
}

std::size_t SocketChannel::receive(std::span<std::byte> into) {
  ROTA_ASSERT(slot_first_ == slot_last_);
  if (into.empty()) return 0;
  const std::size_t bytes = pull(into.first(base::at_most(into.size(), in_.bytes - pulled_)));
  pulled_ += bytes;
  return bytes;
}

void SocketChannel::finish_receive() {
  ROTA_ASSERT(pulled_ == in_.bytes && slot_first_ == slot_last_);
  header_arrived_ = 0;
  pulled_ = 0;
  slot_first_ = 0;
  slot_last_ = 0;
}

}  // namespace rota::transport::tcp
