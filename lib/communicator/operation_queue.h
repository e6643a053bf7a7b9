// Operations in the order in which they were called: a ring with one writer and one reader.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/assert.h"
#include "collectives/operation.h"
#include "collectives/planned.h"
#include "communicator/packing.h"

namespace rota {

// What runs it asks for is one line of a cache.
struct alignas(64) QueuedOperation : collectives::Operation {
  const Packing* packing = nullptr;  // Of a grouped call.
  // Its own of what was planned, also when it is done: calls come again.
  std::shared_ptr<const collectives::PlannedCollective> keeps{};
};
static_assert(sizeof(collectives::Operation) <= 64);

// An operation is known by its number: the first is 1. Each slot has the number of the last one in
// it that is done: numbers of a slot only grow.
class OperationQueue {
 public:
  static constexpr std::uint64_t kCapacity = 64;

  std::uint64_t submitted() const noexcept { return submitted_.load(std::memory_order_acquire); }
  // All up to this one are done.
  std::uint64_t finished() const noexcept { return finished_.load(std::memory_order_acquire); }
  bool is_done(std::uint64_t number) const noexcept {
    return done_[number % kCapacity].load(std::memory_order_acquire) >= number;
  }
  bool full() const noexcept { return submitted() - finished() == kCapacity; }
  bool empty() const noexcept { return submitted() == finished(); }

  // The writer: the thread that calls the collectives. It fills the slot, of an operation that is
  // long done, and pushes it. Both require !full().
  QueuedOperation& next_slot() noexcept {
    ROTA_ASSERT(!full());
    return slots_[next() % kCapacity];
  }
  std::uint64_t push() noexcept {
    const std::uint64_t number = next();
    submitted_.store(number, std::memory_order_release);
    return number;
  }
  // What the next push will return.
  std::uint64_t next() const noexcept { return submitted_.load(std::memory_order_relaxed) + 1; }

  // The reader: whoever drives. Requires finished() < number <= submitted().
  const QueuedOperation& at(std::uint64_t number) const noexcept {
    return slots_[number % kCapacity];
  }
  void mark_done(std::uint64_t number) noexcept {
    done_[number % kCapacity].store(number, std::memory_order_release);
  }
  // Requires is_done(finished() + 1).
  void pop() noexcept { finished_.store(finished() + 1, std::memory_order_release); }

 private:
  std::array<QueuedOperation, kCapacity> slots_;
  std::array<std::atomic<std::uint64_t>, kCapacity> done_{};
  alignas(64) std::atomic<std::uint64_t> submitted_{0};
  alignas(64) std::atomic<std::uint64_t> finished_{0};
};

}  // namespace rota
