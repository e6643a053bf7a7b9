// Deals out runs of one shared mapping, which peers have mapped too and read in place.
#pragma once
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include <rota/memory.h>

#include "os/shared_memory.h"

namespace rota::memory {

// First fit by address. Each run starts on a page of its own and is backed by real pages before it
// is handed out, so that a full host is an Error here and never a SIGBUS later. Thread-safe.
class Arena : public Block::Owner, public std::enable_shared_from_this<Arena> {
 public:
  // Deals from `first` (a multiple of the page) to the end of `mapping`. `keep_alive` owns it.
  Arena(os::SharedMapping& mapping, std::size_t first, std::shared_ptr<void> keep_alive);

  // Zeroed. Throws Error kNoMemory when the arena or the host is full.
  Block allocate(std::size_t bytes);

  // The same, but it is never given back.
  std::span<std::byte> take(std::size_t bytes);

  void release(std::span<std::byte> bytes) noexcept override;

  // From now on nothing that is released is used again, nor changed: a peer may not know yet that
  // it is no longer lent.
  void quarantine() noexcept { quarantined_ = true; }

  static constexpr std::size_t kPage = 4096;

 private:
  struct Run {
    std::size_t bytes = 0;
    bool is_free = true;
  };

  std::shared_ptr<void> keep_alive_;
  os::SharedMapping& mapping_;
  std::atomic<bool> quarantined_{false};
  std::mutex mutex_;
  std::map<std::size_t, Run> runs_;  // By offset: all there is. Free neighbours are merged.
};

}  // namespace rota::memory
