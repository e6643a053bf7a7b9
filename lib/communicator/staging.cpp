// Gives each place in which operations run a Block of its own.
#include "communicator/staging.h"

#include <algorithm>

#include "device/block.h"

namespace rota {

const std::shared_ptr<const Block>& Staging::memory_for(std::uint64_t number, std::size_t bytes) {
  const std::size_t place = number % collectives::kMostRunning;
  std::shared_ptr<const Block>& block = blocks_[place];
  largest_ = std::max(largest_, bytes);
  if (!block || block->bytes().size() < bytes) {
    block = std::make_shared<const Block>(device::allocate_pinned(largest_));
  }
  return block;
}

}  // namespace rota
