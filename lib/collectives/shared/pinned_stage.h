// Has the pinned memory through which values on a device take part in collectives over shared
// memory. It lies in this rank's arena, so peers read and write it in place.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>

#include <rota/memory.h>

#include "collectives/shared/flags_page.h"

namespace rota::collectives {

// One operation at a time uses the memory, so all operations get the same memory. If an operation
// needs more, it gets other memory, and the operations before it keep what they have.
//
// Only the thread that calls the collectives may use the object. That thread also pins, never the
// thread that drives: CUDA may wait for all streams before it pins memory, and these streams may
// wait for the thread that drives.
class PinnedStage {
 public:
  // `flags` must outlive the object, but not what it has allocated.
  explicit PinnedStage(Flags& flags) noexcept : flags_(flags) {}
  PinnedStage(const PinnedStage&) = delete;
  PinnedStage& operator=(const PinnedStage&) = delete;

  // Returns at least `bytes` bytes for the operation with this number, which is larger than those
  // of all calls before. All operations up to `finished` are done. Returns null if the arena has no
  // room now, or if the system has refused to pin memory.
  std::byte* memory_for(std::size_t bytes, std::uint64_t number, std::uint64_t finished);
  // Returns the same if the memory is there already, and otherwise null.
  std::byte* at_hand(std::size_t bytes, std::uint64_t number) noexcept;

 private:
  struct Held {
    Block memory;
    std::uint64_t last = 0;  // The last operation that has got it.
  };

  Block make(std::size_t bytes);

  Flags& flags_;
  std::deque<Held> held_;  // In the order of `last`. New operations get the last one.
  bool is_refused_ = false;
};

}  // namespace rota::collectives
