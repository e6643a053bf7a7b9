// Connections between ranks that lose nothing and keep the order, but are late. The seed decides
// when bytes arrive and in what pieces.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/time.h"
#include "simulation/random.h"
#include "simulation/scheduler.h"
#include "simulation/shared_memory_model.h"

namespace rota::simulation {

class Streams {
 public:
  Streams(Scheduler& scheduler, SharedMemoryModel& memory, Random& random)
      : scheduler_(scheduler), memory_(memory), random_(random) {}

  // The hook is called before each send and receive of a rank.
  void on_call(std::function<void()> hook) { hook_ = std::move(hook); }

  // Returns the two ends of a connection between two ranks, as descriptors. Real descriptors are
  // smaller.
  std::pair<int, int> connect(std::size_t rank, std::size_t peer);
  static bool is_one(int fd) noexcept { return fd >= kFirst; }

  // Send and receive like sendmsg and recv, without blocking. Return -1 and set errno on failure.
  long send(int fd, std::span<const std::span<const std::byte>> parts);
  long receive(int fd, std::span<std::byte> into);
  // Does the same as receive(), but leaves the bytes in the stream, and copies only the first one.
  // No rank looks at more.
  long peek(int fd, std::span<std::byte> into) const;
  void close(int fd);

  bool is_readable(int fd) const;
  bool is_writable(int fd) const;

  // From now on the rank's host has no memory for what the rank sends.
  void starve(std::size_t rank) { starving_ = rank; }

  // Called when the rank's process has ended. Its connections end after the bytes that it had sent.
  void end(std::size_t rank);

 private:
  static constexpr int kFirst = 1 << 20;
  static constexpr std::size_t kRoom = 16 * 1024;  // The most bytes on the way.

  struct Piece {
    base::TimePoint arrives;
    std::vector<std::byte> bytes;
    std::size_t taken = 0;
    View known;
  };
  struct Direction {
    std::deque<Piece> pieces;
    std::size_t on_its_way = 0;
    base::TimePoint last_arrives{};
    bool has_ended = false;   // The writer has closed its end.
    bool is_refused = false;  // The reader has closed its end.
  };

  // Direction fd - kFirst has the bytes that `fd` sends. The other direction of the pair has the
  // bytes that its peer sends.
  Direction& out(int fd) { return directions_[static_cast<std::size_t>(fd - kFirst)]; }
  Direction& in(int fd) { return directions_[static_cast<std::size_t>((fd - kFirst) ^ 1)]; }
  const Direction& out(int fd) const { return directions_[static_cast<std::size_t>(fd - kFirst)]; }
  const Direction& in(int fd) const {
    return directions_[static_cast<std::size_t>((fd - kFirst) ^ 1)];
  }
  base::TimePoint draw_arrival(Direction& direction);

  Scheduler& scheduler_;
  SharedMemoryModel& memory_;
  Random& random_;
  std::vector<Direction> directions_;
  std::vector<std::size_t> owners_;  // Index = direction: the rank that writes.
  std::optional<std::size_t> starving_;
  std::function<void()> hook_;
};

}  // namespace rota::simulation
