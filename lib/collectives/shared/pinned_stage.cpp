// Replaces the memory when an operation needs more, and gives the old one back when no operation
// uses it any more.
#include "collectives/shared/pinned_stage.h"

#include <utility>

#include <rota/error.h>

#include "device/block.h"

namespace rota::collectives {

std::byte* PinnedStage::at_hand(std::size_t bytes, std::uint64_t number) noexcept {
  if (held_.empty() || held_.back().memory.bytes().size() < bytes) return nullptr;
  held_.back().last = number;
  return held_.back().memory.bytes().data();
}

std::byte* PinnedStage::memory_for(std::size_t bytes, std::uint64_t number,
                                   std::uint64_t finished) {
  while (held_.size() > 1 && held_.front().last <= finished) held_.pop_front();
  if (std::byte* const memory = at_hand(bytes, number)) return memory;
  // First: the arena may have no room for both.
  if (!held_.empty() && held_.back().last <= finished) held_.clear();
  Block memory = make(bytes);
  if (memory.bytes().empty()) return nullptr;
  held_.push_back({std::move(memory), number});
  return held_.back().memory.bytes().data();
}

// Returns an empty Block in place of an Error. When its operation begins, earlier operations may
// have given their memory back. If there is still no room then, the operation fails.
Block PinnedStage::make(std::size_t bytes) {
  if (is_refused_) return {};
  try {
    bool is_pinned = false;
    Block memory = device::pin(flags_.allocate_for_devices(bytes), is_pinned);
    is_refused_ = !is_pinned;
    return is_pinned ? std::move(memory) : Block();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNoMemory) throw;
    return {};
  }
}

}  // namespace rota::collectives
