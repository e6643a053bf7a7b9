// Connections between ranks that lose nothing and keep their order, and say so late: bytes arrive
// when and in what pieces the seed decides.
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

  // Called before each send and receive of a rank.
  void on_call(std::function<void()> hook) { hook_ = std::move(hook); }

  // The two ends of a connection between two ranks, by their descriptors, which no real ones have.
  std::pair<int, int> connect(std::size_t rank, std::size_t peer);
  static bool is_one(int fd) noexcept { return fd >= kFirst; }

  // As sendmsg and recv, without blocking: -1 where errno says more.
  long send(int fd, std::span<const std::span<const std::byte>> parts);
  long receive(int fd, std::span<std::byte> into);
  void close(int fd);

  bool is_readable(int fd) const;
  bool is_writable(int fd) const;

  // From now on nothing that the rank sends finds memory.
  void starve(std::size_t rank) { starving_ = rank; }

  // The rank's process has ended: its connections have, after what it had sent.
  void end(std::size_t rank);

 private:
  static constexpr int kFirst = 1 << 20;
  static constexpr std::size_t kRoom = 16 * 1024;  // So much may be on its way.

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
    bool has_ended = false;   // The writer's end is closed.
    bool is_refused = false;  // The reader's is.
  };

  // fd - kFirst: its own direction; the other one of the pair is its peer's.
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
  std::vector<std::size_t> owners_;  // By direction: the rank that writes.
  std::optional<std::size_t> starving_;
  std::function<void()> hook_;
};

}  // namespace rota::simulation
