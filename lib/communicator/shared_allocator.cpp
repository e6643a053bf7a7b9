// Stores the blocks of shared allocators, with their addresses as keys.
#include <rota/shared_allocator.h>

#include <mutex>
#include <unordered_map>
#include <utility>

#include "communicator/impl.h"

namespace rota {

struct BlockShelf::State {
  explicit State(std::shared_ptr<CommunicatorImpl> communicator)
      : source(std::move(communicator)) {}

  std::shared_ptr<CommunicatorImpl> source;
  std::mutex mutex;
  std::unordered_map<void*, Block> blocks;
};

BlockShelf::BlockShelf(const Communicator& communicator)
    : state_(std::make_unique<State>(CommunicatorImpl::of(communicator))) {}

BlockShelf::~BlockShelf() = default;

void* BlockShelf::allocate(std::size_t bytes) {
  state_->source->require_here();  // Elsewhere, nobody may be left to unlock the mutex.
  const std::lock_guard lock(state_->mutex);
  Block block = state_->source->allocate(bytes);
  void* address = block.bytes().data();
  state_->blocks.emplace(address, std::move(block));
  return address;
}

void BlockShelf::release(void* address) noexcept {
  if (!state_->source->origin().is_here()) return;
  const std::lock_guard lock(state_->mutex);
  state_->blocks.erase(address);
}

}  // namespace rota
