// The operations of a group that are under way, and the one rule of their order: an operation may
// start when nothing before it that is unfinished holds a stream that it uses, or memory that
// either of them writes. A method may want its own operations to start in the order of their calls
// as well.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collectives/running.h"
#include "communicator/operation_queue.h"
#include "transport/transport.h"

namespace rota {

// From the first address to behind the last one.
struct Extent {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool overlaps(const Extent& other) const noexcept {
    return begin < other.end && other.begin < end;
  }
};

// The caller's memory that an operation touches.
struct MemoryUse {
  Extent read;
  std::array<Extent, 2> written;  // The values; a codec's feedback.
  bool conflicts_with(const MemoryUse& other) const noexcept {
    return writes_what(other) || other.writes_what(*this);
  }

 private:
  bool writes_what(const MemoryUse& other) const noexcept {
    return std::ranges::any_of(written, [&other](const Extent& own) {
      return own.overlaps(other.read) || own.overlaps(other.written[0]) ||
             own.overlaps(other.written[1]);
    });
  }
};

// One thread at a time.
class Window {
 public:
  enum class Turn : std::uint8_t {
    kNothing,
    kMoved,
    kBroken,  // Some rank has begun to abort: nothing is finished any more.
  };

  // `methods`: what PlannedCollective::method counts; they outlive this. `transport`: null in a
  // world of one.
  Window(OperationQueue& queue, std::span<const std::unique_ptr<collectives::Method>> methods,
         const transport::Transport* transport);

  // Starts what may start, moves what can be moved, finishes what is done. Reads no clock. Throws
  // Error kPeerLost, kMismatch, kNoMemory.
  Turn turn();

  // How many have a place, counted from the oldest that is not finished.
  std::uint64_t count() const noexcept { return admitted_ - queue_.finished(); }
  // The oldest that is not finished. These require count() > 0, and a turn() before.
  const QueuedOperation& oldest() const noexcept { return queue_.at(queue_.finished() + 1); }
  const collectives::Running& oldest_run() const noexcept {
    return place_of(oldest(), queue_.finished() + 1);
  }
  // Whether it is done, and some rank's abort keeps it from being finished.
  bool oldest_is_kept() const noexcept {
    return states_[(queue_.finished() + 1) % kPlaces] == State::kDone;
  }

  // The first operation that waits for one before it because both use the same memory, or null.
  const QueuedOperation* held_up_by_memory() noexcept;

 private:
  static constexpr std::uint64_t kPlaces = collectives::kMostRunning;

  enum class State : std::uint8_t { kWaits, kRuns, kDone, kFinished };
  State& state_of(std::uint64_t number) noexcept { return states_[number % kPlaces]; }
  collectives::Running& place_of(const QueuedOperation& operation,
                                 std::uint64_t number) const noexcept {
    return *places_[operation.planned->method * kPlaces + number % kPlaces];
  }
  void admit(std::uint64_t oldest) noexcept;
  bool may_start(std::uint64_t number) noexcept;
  bool waits_for(std::uint64_t number, std::uint64_t before) noexcept;
  bool shares_memory(std::uint64_t number, std::uint64_t before) noexcept;
  collectives::Streams streams_of(std::uint64_t number) noexcept;
  Turn advance(std::uint64_t number, bool is_oldest);

  OperationQueue& queue_;
  const transport::Transport* transport_;
  std::vector<std::unique_ptr<collectives::Running>> places_;  // By method and place.
  std::uint64_t admitted_ = 0;  // Operations that have been given a place.
  // Index: the operation's number % kPlaces.
  std::array<State, kPlaces> states_{};
  std::array<std::uint64_t, kPlaces> streams_known_{};  // Of which operation.
  std::array<std::uint64_t, kPlaces> waits_for_{};  // The operation that it was found to wait for.
  std::vector<std::uint64_t> stream_words_;         // Of all places.
  std::vector<bool> starts_in_order_;               // By method.
};

}  // namespace rota
