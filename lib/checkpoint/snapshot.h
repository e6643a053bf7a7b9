// This rank's share of a state, as it was between two steps. Without this copy, training would
// stand still until the disk has the state.
//
// The writer's thread copies the share while the next step computes. Before a step changes values,
// training waits until these values are copied, and for nothing else.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <rota/training_state.h>

namespace rota::checkpoint {

struct Share {
  std::span<const std::byte> memory;
  StateWriter writer = StateWriter::kStep;
  std::size_t index = 0;  // As StatePiece::index.
};

// One thread trains and one thread writes. Each function says which of them calls it.
class Snapshot {
 public:
  Snapshot() noexcept;

  // Called by the training thread, while no snapshot is under way. Shares of StateWriter::kStep are
  // borrowed: they must not change. Allocates only if there is more to copy than ever before;
  // throws std::bad_alloc.
  void begin(const std::vector<Share>& shares);

  // Begins as begin() does, but copies nothing: the training thread waits until everything is
  // written.
  void borrow(const std::vector<Share>& shares);

  // Called by the writer's thread, once after begin() or borrow().
  void copy() noexcept;

  // Called by the training thread, before a step writes the values of `writer` and `index`. Returns
  // once these values are copied, and says how long that took. Returns immediately if no copy is
  // under way.
  std::chrono::nanoseconds wait_before(StateWriter writer, std::size_t index) noexcept;

  // Called by the writer's thread, after copy(). Index = share.
  const std::vector<std::span<const std::byte>>& values() const noexcept { return values_; }

 private:
  void place(const std::vector<Share>& shares);
  std::uint64_t first_turn(StateWriter writer) const noexcept;  // In order_.

  std::vector<Share> shares_;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t room_ = 0;                            // Bytes of memory_.
  std::vector<std::span<std::byte>> copies_;        // In memory_, or empty. Index = share.
  std::vector<std::span<const std::byte>> values_;  // The copies, or the shares themselves.
  std::vector<std::size_t> order_;                  // The shares in the order of copy().
  // Index = StateWriter. Shares whose turn (see snapshot.cpp) is below this are copied.
  std::array<std::atomic<std::uint64_t>, 3> copied_;
};

}  // namespace rota::checkpoint
