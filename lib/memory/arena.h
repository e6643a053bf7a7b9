// Hands out contiguous ranges (runs) of one shared mapping. Peers map it too, and read and write
// the runs in place.
#pragma once
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include <rota/memory.h>

#include "os/host.h"
#include "os/origin.h"
#include "os/shared_mapping.h"

namespace rota::memory {

// Hands out the first free range that is large enough. Each run starts on its own page. The arena
// backs a run with real pages before it hands the run out, and looks first whether the host has
// them. So a full host causes an Error here, and never a SIGBUS later. Thread-safe.
class Arena : public Block::Owner, public std::enable_shared_from_this<Arena> {
 public:
  // Hands out memory from offset `first` (a multiple of the page) to the end of `mapping`.
  // `keep_alive` owns `mapping`. `page_bytes` is the size of a page, a power of two. `available`
  // says how much memory the host has left.
  Arena(os::SharedMapping& mapping, std::size_t first, std::shared_ptr<void> keep_alive,
        std::size_t page_bytes = os::page_bytes(),
        os::AvailableBytes available = os::available_memory_bytes);

  // The memory is zeroed. Throws Error kNoMemory if the arena or the host is full.
  Block allocate(std::size_t bytes);

  // Allocates as allocate() does, but the memory is never given back.
  std::span<std::byte> take(std::size_t bytes);

  // Does nothing in the child of a fork: the memory is the parent's.
  void release(std::span<std::byte> bytes) noexcept override;

  // From now on, released memory is neither reused nor changed: perhaps a peer does not know yet
  // that it must no longer use that memory.
  void quarantine() noexcept { quarantined_ = true; }

 private:
  struct Run {
    std::size_t bytes = 0;
    bool is_free = true;
  };

  std::size_t whole_pages(std::size_t bytes) const noexcept;

  std::shared_ptr<void> keep_alive_;
  os::SharedMapping& mapping_;
  std::size_t page_bytes_;
  os::AvailableBytes available_;
  os::Origin origin_;
  std::atomic<bool> quarantined_{false};
  std::mutex mutex_;
  std::map<std::size_t, Run> runs_;  // By offset; covers the arena. Free neighbours are merged.
};

}  // namespace rota::memory
