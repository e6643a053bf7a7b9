// One byte, whatever it says.
#include "transport/bell.h"

#include <array>
#include <cstddef>
#include <utility>

namespace rota::transport {

Bell::Bell(auth::Stream stream, shm::Rings& rings) : stream_(std::move(stream)), rings_(rings) {
  os::set_no_delay(stream_.fd());
}

// One of the two sees what the other one has written: either this rank that the mate sleeps, or the
// mate, before it does, that there has been a ring.
void Bell::ring() {
  rings_.count.fetch_add(1);
  if (!stream_ || rings_.asleep.load() == 0 || rings_.asleep.exchange(0) == 0) return;
  const std::byte byte{};
  // What finds no room is not missed: so many bytes lie there that wake.
  if (stream_.send({}, std::span(&byte, 1)).closed) stream_.reset();
}

void Bell::add_to(os::PollSet& polls) {
  position_.reset();
  if (stream_) position_ = polls.add(stream_.fd(), true, false);
}

// The mate's end of the connection may end before its memory is missed.
void Bell::heed(const os::PollSet& polls) {
  if (!position_ || !polls.readable(*position_)) return;
  std::array<std::byte, 64> bytes{};
  os::Moved moved;
  do {
    moved = stream_.receive(bytes);
  } while (!moved.closed && moved.bytes == bytes.size());
  if (moved.closed) stream_.reset();
}

}  // namespace rota::transport
