// The operations of a group that are under way, and the rule for their order. An operation may
// start unless it conflicts with an earlier, unfinished operation. Two operations conflict if they
// use the same stream (see collectives::Streams), the scratch memory of the same plan, or the same
// memory of the caller and one of them writes it. A method may also require that its own operations
// start in the order of their calls.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/running.h"
#include "communicator/operation_queue.h"
#include "transport/transport.h"

namespace rota {

// A range of addresses: from the first address to the address after the last one.
struct Extent {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool overlaps(const Extent& other) const noexcept {
    return begin < other.end && other.begin < end;
  }
};

// The caller's memory that an operation reads and writes.
struct MemoryUse {
  Extent read;
  std::array<Extent, 2> written;  // The values; the feedback of a codec.
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

// Only one thread at a time may use a Window.
class Window {
 public:
  enum class Turn : std::uint8_t {
    kNothing,
    kMoved,
    kBroken,  // A rank has begun to abort: no further operation is finished.
  };

  // `methods`: the list in which PlannedCollective::method is an index. The methods must outlive
  // this object. `transport`: null in a world of one.
  Window(OperationQueue& queue, std::span<const std::unique_ptr<collectives::Method>> methods,
         const transport::Transport* transport);

  // Starts the operations that may start, moves what can be moved, finishes operations that are
  // done. Reads no clock. Throws what collectives::Running::step() throws.
  Turn turn();

  // Returns the number of operations that have a place, from the oldest unfinished one on.
  std::uint64_t count() const noexcept { return admitted_ - queue_.finished(); }
  // The next two functions return the oldest unfinished operation, and the place in which it runs.
  // Both require count() > 0, and an earlier turn().
  const QueuedOperation& oldest() const noexcept { return queue_.at(queue_.finished() + 1); }
  const collectives::Running& oldest_run() const noexcept {
    return place_of(oldest(), queue_.finished() + 1);
  }
  // Returns whether the oldest operation is done, but is not finished because a rank has begun to
  // abort.
  bool oldest_is_kept() const noexcept {
    return states_[(queue_.finished() + 1) % kPlaces] == State::kDone;
  }

  // Returns which library may still use the buffers of operations under way, after the group has
  // failed. Empty if none does.
  std::string_view keeps_buffers() const noexcept;

  // Returns the first operation that waits for an earlier one because both use the same memory, or
  // null.
  const QueuedOperation* held_up_by_memory() noexcept;

 private:
  static constexpr std::size_t kPlaces = collectives::kMostRunning;

  enum class State : std::uint8_t { kWaits, kRuns, kDone, kFinished };
  static std::size_t number_in_ring(std::uint64_t number) noexcept {
    return static_cast<std::size_t>(number % kPlaces);
  }
  State& state_of(std::uint64_t number) noexcept { return states_[number_in_ring(number)]; }
  collectives::Running& place_of(const QueuedOperation& operation,
                                 std::uint64_t number) const noexcept {
    return *places_[operation.planned->method * kPlaces + number_in_ring(number)];
  }
  void admit(std::uint64_t oldest) noexcept;
  bool may_start(std::uint64_t number) noexcept;
  bool waits_for(std::uint64_t number, std::uint64_t before) noexcept;
  bool shares_memory(std::uint64_t number, std::uint64_t before) noexcept;
  bool shares_scratch(std::uint64_t number, std::uint64_t before) const noexcept;
  collectives::Streams streams_of(std::uint64_t number) noexcept;
  Turn advance(std::uint64_t number, bool is_oldest);

  OperationQueue& queue_;
  const transport::Transport* transport_;
  std::vector<std::unique_ptr<collectives::Running>> places_;  // Index: method and place.
  std::uint64_t admitted_ = 0;                                 // Operations that have had a place.
  // Index: the operation's number % kPlaces.
  std::array<State, kPlaces> states_{};
  std::array<std::uint64_t, kPlaces> streams_known_{};  // The operation with known streams.
  std::array<std::uint64_t, kPlaces> waits_for_{};      // The operation that this one waits for.
  std::vector<std::uint64_t> stream_words_;             // The streams of all places.
  std::vector<bool> starts_in_order_;                   // Index = method.
};

}  // namespace rota
