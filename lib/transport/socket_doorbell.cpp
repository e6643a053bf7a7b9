// Sends and receives doorbells. A doorbell is one byte over a connection; its value has no meaning.
#include "transport/socket_doorbell.h"

#include <array>
#include <cstddef>
#include <utility>

namespace rota::transport {

SocketDoorbell::SocketDoorbell(auth::Stream stream, shm::DoorbellFlag& flag)
    : stream_(std::move(stream)), flag_(flag) {
  os::set_no_delay(stream_.fd());
}

// Both sides write first and then read, sequentially consistent, so at least one side sees what the
// other side has written. Either this rank sees that the local peer sleeps, or the local peer sees
// the ring before it sleeps.
void SocketDoorbell::ring() {
  flag_.count.fetch_add(1, std::memory_order_seq_cst);
  if (!stream_ || flag_.asleep.load(std::memory_order_seq_cst) == 0) return;
  // Relaxed: of the ranks that have seen the peer asleep, exactly one finds the 1.
  if (flag_.asleep.exchange(0, std::memory_order_relaxed) == 0) return;
  const std::byte byte{};
  // A byte that finds no room is not needed: the bytes that are already there wake the peer.
  if (stream_.send({}, std::span(&byte, 1)).closed) stream_.reset();
}

void SocketDoorbell::add_to(os::PollSet& polls) {
  position_.reset();
  if (stream_) position_ = polls.add(stream_.fd(), true, false);
}

// If the connection has ended, closes only the stream. Other code finds out whether the peer has
// left or died: from the peer's memory, or from the coordinator.
void SocketDoorbell::handle(const os::PollSet& polls) {
  if (!position_ || !polls.readable(*position_)) return;
  std::array<std::byte, 64> bytes{};
  os::Moved moved;
  do {
    moved = stream_.receive(bytes);
  } while (!moved.closed && moved.bytes == bytes.size());
  if (moved.closed) stream_.reset();
}

}  // namespace rota::transport
