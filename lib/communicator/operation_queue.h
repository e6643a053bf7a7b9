// Operations in the order in which they were called: a ring with one writer and one reader.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>

#include "base/assert.h"
#include "collectives/engine.h"

namespace rota {

// An operation is known by its place: the first is number 1. It is done once finished() has
// reached its number, so that nobody has to keep a state for each.
class OperationQueue {
 public:
  static constexpr std::uint64_t kCapacity = 64;

  std::uint64_t submitted() const noexcept { return submitted_.load(std::memory_order_acquire); }
  std::uint64_t finished() const noexcept { return finished_.load(std::memory_order_acquire); }
  bool full() const noexcept { return submitted() - finished() == kCapacity; }
  bool empty() const noexcept { return submitted() == finished(); }

  // The writer: the thread that calls the collectives. Requires !full(). Returns the number.
  std::uint64_t push(collectives::Operation operation) noexcept {
    ROTA_ASSERT(!full());
    const std::uint64_t number = submitted_.load(std::memory_order_relaxed) + 1;
    operation.signature.sequence = number;
    slots_[number % kCapacity] = operation;
    submitted_.store(number, std::memory_order_release);
    return number;
  }

  // The reader: whoever drives. Both require !empty().
  const collectives::Operation& front() const noexcept {
    return slots_[(finished() + 1) % kCapacity];
  }
  void pop() noexcept { finished_.store(finished() + 1, std::memory_order_release); }

 private:
  std::array<collectives::Operation, kCapacity> slots_;
  alignas(64) std::atomic<std::uint64_t> submitted_{0};
  alignas(64) std::atomic<std::uint64_t> finished_{0};
};

}  // namespace rota
