// First fit over a map of what is free.
#include "memory/arena.h"

#include <iterator>
#include <string>
#include <utility>

#include <rota/error.h>

#include "base/assert.h"

namespace rota::memory {
namespace {

std::size_t whole_pages(std::size_t bytes) noexcept {
  return (bytes + Arena::kPage - 1) / Arena::kPage * Arena::kPage;
}

}  // namespace

Arena::Arena(os::SharedMapping& mapping, std::size_t first, std::shared_ptr<void> keep_alive)
    : keep_alive_(std::move(keep_alive)), mapping_(mapping) {
  ROTA_ASSERT(first % kPage == 0 && first < mapping.bytes().size());
  free_[first] = mapping.bytes().size() - first;
}

Block Arena::allocate(std::size_t bytes) {
  if (bytes == 0) return {};
  return {take(bytes), shared_from_this()};
}

std::span<std::byte> Arena::take(std::size_t bytes) {
  const std::size_t needed = whole_pages(bytes);
  const std::lock_guard lock(mutex_);
  for (auto run = free_.begin(); run != free_.end(); ++run) {
    const auto [offset, available] = *run;
    if (needed < bytes || available < needed) continue;
    mapping_.reserve(offset, needed);
    free_.erase(run);
    if (available > needed) free_[offset + needed] = available - needed;
    return mapping_.bytes().subspan(offset, bytes);
  }
  throw Error(ErrorCode::kNoMemory, "no run of " + std::to_string(bytes) +
                                        " bytes is left in this rank's shared arena of " +
                                        std::to_string(mapping_.bytes().size()) + " bytes");
}

void Arena::release(std::span<std::byte> bytes) noexcept {
  if (bytes.empty() || quarantined_) return;
  const auto offset = static_cast<std::size_t>(bytes.data() - mapping_.bytes().data());
  const std::size_t count = whole_pages(bytes.size());
  mapping_.discard(offset, count);
  const std::lock_guard lock(mutex_);
  auto run = free_.emplace(offset, count).first;
  if (const auto next = std::next(run);
      next != free_.end() && run->first + run->second == next->first) {
    run->second += next->second;
    free_.erase(next);
  }
  if (run != free_.begin()) {
    const auto previous = std::prev(run);
    if (previous->first + previous->second == run->first) {
      previous->second += run->second;
      free_.erase(run);
    }
  }
}

}  // namespace rota::memory
