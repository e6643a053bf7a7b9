// Has the pinned memory through which messages of values on a device go. Operations that are never
// under way together share it, so it does not grow with the number of distinct calls.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <rota/memory.h>

#include "collectives/running.h"

namespace rota {

// Only the thread that calls the collectives may use it. That thread also allocates, never the
// thread that drives: CUDA may wait for all streams before it pins memory, and these streams may
// wait for the thread that drives.
class Staging {
 public:
  // Returns at least `bytes` of memory for the operation with this number. An operation with
  // another number has other memory, unless the numbers differ by a multiple of kMostRunning. The
  // memory is in use while an operation holds it, so a larger Block may replace it here. Throws
  // what device::allocate_pinned() throws.
  const std::shared_ptr<const Block>& memory_for(std::uint64_t number, std::size_t bytes);

 private:
  std::size_t largest_ = 0;  // So far. All places come to have so many bytes.
  std::array<std::shared_ptr<const Block>, collectives::kMostRunning> blocks_;
};

}  // namespace rota
