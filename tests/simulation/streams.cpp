// Cuts the bytes into pieces, each with an arrival time. The pieces keep their order.
#include "simulation/streams.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace rota::simulation {
namespace {

constexpr std::uint64_t kMostNanosecondsOnTheWay = 200'000;

}  // namespace

std::pair<int, int> Streams::connect(std::size_t rank, std::size_t peer) {
  const int fd = kFirst + static_cast<int>(directions_.size());
  directions_.resize(directions_.size() + 2);
  owners_.push_back(rank);
  owners_.push_back(peer);
  return {fd, fd + 1};
}

base::TimePoint Streams::draw_arrival(Direction& direction) {
  const base::Duration delay(random_.below(kMostNanosecondsOnTheWay));
  direction.last_arrives = std::max(direction.last_arrives, scheduler_.now() + delay);
  return direction.last_arrives;
}

long Streams::send(int fd, std::span<const std::span<const std::byte>> parts) {
  if (hook_) hook_();
  Direction& direction = out(fd);
  if (direction.is_refused) {
    errno = EPIPE;
    return -1;
  }
  std::size_t total = 0;
  for (const auto& part : parts) total += part.size();
  const std::size_t room = kRoom - std::min(kRoom, direction.on_its_way);
  std::size_t count = std::min(total, room);
  if (count == 0 && total > 0) {
    errno = EAGAIN;
    return -1;
  }
  // From time to time a host has no memory for a send. A kernel reports that in two ways.
  if (starving_ == owners_[static_cast<std::size_t>(fd - kFirst)] || random_.one_in(50)) {
    errno = random_.one_in(2) ? ENOBUFS : ENOMEM;
    return -1;
  }
  if (count > 1 && random_.one_in(4)) count = random_.between(1, count);
  Piece piece{.arrives = draw_arrival(direction), .bytes = {}, .known = memory_.known()};
  piece.bytes.resize(count);
  std::size_t at = 0;
  for (const auto& part : parts) {
    const std::size_t bytes = std::min(part.size(), count - at);
    if (bytes > 0) memory_.copy(piece.bytes.data() + at, part.data(), bytes);
    at += bytes;
  }
  direction.on_its_way += count;
  direction.pieces.push_back(std::move(piece));
  scheduler_.note_event();
  return static_cast<long>(count);
}

long Streams::receive(int fd, std::span<std::byte> into) {
  if (hook_) hook_();
  Direction& direction = in(fd);
  std::size_t count = 0;
  while (count < into.size() && !direction.pieces.empty()) {
    Piece& piece = direction.pieces.front();
    if (piece.arrives > scheduler_.now()) break;
    memory_.learn(piece.known);
    const std::size_t bytes = std::min(into.size() - count, piece.bytes.size() - piece.taken);
    if (bytes > 0) memory_.copy(into.data() + count, piece.bytes.data() + piece.taken, bytes);
    count += bytes;
    piece.taken += bytes;
    direction.on_its_way -= bytes;
    if (piece.taken < piece.bytes.size()) break;
    direction.pieces.pop_front();
  }
  if (count > 0 || into.empty()) return static_cast<long>(count);
  if (direction.pieces.empty() && direction.has_ended) return 0;
  errno = EAGAIN;
  return -1;
}

long Streams::peek(int fd, std::span<std::byte> into) const {
  const Direction& direction = in(fd);
  if (is_readable(fd) && direction.pieces.empty()) return 0;
  if (!is_readable(fd)) {
    errno = EAGAIN;
    return -1;
  }
  const Piece& piece = direction.pieces.front();
  into.front() = piece.bytes[piece.taken];
  return 1;
}

bool Streams::is_readable(int fd) const {
  const Direction& direction = in(fd);
  if (direction.pieces.empty()) return direction.has_ended;
  return direction.pieces.front().arrives <= scheduler_.now();
}

bool Streams::is_writable(int fd) const { return out(fd).is_refused || out(fd).on_its_way < kRoom; }

void Streams::close(int fd) {
  out(fd).has_ended = true;
  in(fd).is_refused = true;
  in(fd).pieces.clear();
  scheduler_.note_event();
}

void Streams::end(std::size_t rank) {
  for (std::size_t i = 0; i < owners_.size(); ++i) {
    if (owners_[i] == rank) close(kFirst + static_cast<int>(i));
  }
}

}  // namespace rota::simulation
