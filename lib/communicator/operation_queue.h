// The queue of operations in the order of their calls: a ring buffer with one writer and one
// reader.
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
#include "device/posts.h"

namespace rota {

// The part that collectives::Running reads, collectives::Operation, fits one cache line, except for
// `draw`, which only a codec reads, and what values on a device need.
struct alignas(64) QueuedOperation : collectives::Operation {
  const Packing* packing = nullptr;  // For a grouped call.
  // Keeps `planned` alive even after the operation is done: the same call is often repeated.
  std::shared_ptr<const collectives::PlannedCollective> keeps{};
  std::shared_ptr<const Block> keeps_staging{};  // The memory of `staging`.
};
static_assert(offsetof(collectives::Operation, draw) <= 64);

// An operation is identified by its number, from 1 on. Each slot holds the number of the last
// operation in it that is done, so the number in a slot only grows.
//
// Three stores release, and who acquires them may use what they show: push() shows the slot to the
// reader, mark_done() shows the results to all who wait, pop() gives the slot back to the writer.
class OperationQueue {
 public:
  static constexpr std::uint64_t kCapacity = 64;

  std::uint64_t submitted() const noexcept { return submitted_.load(std::memory_order_acquire); }
  // Returns a number. All operations up to this number are done.
  std::uint64_t finished() const noexcept { return finished_.load(std::memory_order_acquire); }
  bool is_done(std::uint64_t number) const noexcept {
    return done_[number % kCapacity].load(std::memory_order_acquire) >= number;
  }
  bool full() const noexcept { return submitted() - finished() == kCapacity; }
  bool empty() const noexcept { return submitted() == finished(); }

  // For the writer, the thread that calls the collectives. The writer fills the slot from
  // next_slot(), whose old operation is long done, then calls push(). Both functions require
  // !full().
  QueuedOperation& next_slot() noexcept {
    ROTA_ASSERT(!full());
    return slots_[next() % kCapacity];
  }
  std::uint64_t push() noexcept {
    const std::uint64_t number = next();
    submitted_.store(number, std::memory_order_release);
    return number;
  }
  // Returns the number that the next push() will return.
  std::uint64_t next() const noexcept {
    return submitted_.load(std::memory_order_relaxed) + 1;  // The writer's own counter.
  }

  // For the reader: the thread that drives the communicator. Requires finished() < number <=
  // submitted().
  const QueuedOperation& at(std::uint64_t number) const noexcept {
    return slots_[number % kCapacity];
  }
  void mark_done(std::uint64_t number) noexcept {
    done_[number % kCapacity].store(number, std::memory_order_release);
    if (posts_) posts_->post(number % kCapacity, number);
  }
  // From now on, every operation that is done is posted too: in the word of its slot. `posts` must
  // outlive this object, and have kCapacity words.
  void post_to(device::Posts& posts) noexcept {
    posts_ = &posts;
    for (std::size_t slot = 0; slot < kCapacity; ++slot) {
      posts.post(slot, done_[slot].load(std::memory_order_relaxed));
    }
  }
  // Requires is_done(finished() + 1).
  void pop() noexcept { finished_.store(finished() + 1, std::memory_order_release); }

 private:
  std::array<QueuedOperation, kCapacity> slots_;
  std::array<std::atomic<std::uint64_t>, kCapacity> done_{};
  device::Posts* posts_ = nullptr;  // For streams that wait for an operation.
  alignas(64) std::atomic<std::uint64_t> submitted_{0};
  alignas(64) std::atomic<std::uint64_t> finished_{0};
};

}  // namespace rota
