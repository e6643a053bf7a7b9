// Allocates runs (contiguous ranges) of the arena by first fit. A map lists all runs.
#include "memory/arena.h"

#include <iterator>
#include <string>
#include <utility>

#include <rota/error.h>

#include "base/assert.h"
#include "os/system_error.h"

namespace rota::memory {

Arena::Arena(os::SharedMapping& mapping, std::size_t first, std::shared_ptr<void> keep_alive,
             std::size_t page_bytes, os::AvailableBytes available)
    : keep_alive_(std::move(keep_alive)),
      mapping_(mapping),
      page_bytes_(page_bytes),
      available_(std::move(available)) {
  ROTA_ASSERT(first % page_bytes == 0 && first < mapping.bytes().size());
  runs_[first] = {.bytes = mapping.bytes().size() - first};
}

std::size_t Arena::whole_pages(std::size_t bytes) const noexcept {
  return (bytes + page_bytes_ - 1) / page_bytes_ * page_bytes_;
}

Block Arena::allocate(std::size_t bytes) {
  if (bytes == 0) return {};
  return {take(bytes), shared_from_this()};
}

std::span<std::byte> Arena::take(std::size_t bytes) {
  const std::size_t needed = whole_pages(bytes);
  const std::lock_guard lock(mutex_);
  for (auto& [offset, run] : runs_) {
    if (!run.is_free || needed < bytes || run.bytes < needed) continue;
    std::map<std::size_t, Run> rest;  // Made before any change: this may throw.
    if (run.bytes > needed) rest[offset + needed] = {.bytes = run.bytes - needed};
    mapping_.reserve(offset, needed, available_);
    run = {.bytes = needed, .is_free = false};
    runs_.merge(rest);
    return mapping_.bytes().subspan(offset, bytes);
  }
  throw Error(ErrorCode::kNoMemory,
              "no " + std::to_string(bytes) +
                  " contiguous bytes are left in this rank's shared arena of " +
                  std::to_string(mapping_.bytes().size()) + " bytes" + os::advice_on_memory());
}

// Allocates nothing: a caller that lacks memory can still give memory back.
void Arena::release(std::span<std::byte> bytes) noexcept {
  if (bytes.empty() || quarantined_ || !origin_.is_here()) return;
  const auto offset = static_cast<std::size_t>(bytes.data() - mapping_.bytes().data());
  mapping_.discard(offset, whole_pages(bytes.size()));
  const std::lock_guard lock(mutex_);
  const auto run = runs_.find(offset);
  ROTA_ASSERT(run != runs_.end() && !run->second.is_free);
  run->second.is_free = true;
  const auto add_free = [this](auto to, auto from) {
    if (!to->second.is_free || !from->second.is_free) return;
    to->second.bytes += from->second.bytes;
    runs_.erase(from);
  };
  if (const auto next = std::next(run); next != runs_.end()) add_free(run, next);
  if (run != runs_.begin()) add_free(std::prev(run), run);
}

}  // namespace rota::memory
