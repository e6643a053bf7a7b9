// Describes memory that all ranks of a group can access. A transport provides this memory. The user
// of the memory decides what ranks write there, and in which order.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <rota/memory.h>

namespace rota::transport {

// A page has zeros at first. Only the rank that the page belongs to writes to the page.
struct alignas(64) SharedPage {
  std::array<std::byte, 2048> bytes;
};

struct SharedMemory {
  struct OfRank {
    SharedPage* page = nullptr;
    std::span<std::byte> memory;
  };

  std::size_t rank = 0;
  std::vector<OfRank> ranks;
  // Nonzero once some rank has failed. From then on, a rank must not begin to write to the memory
  // of other ranks, because the programs of those ranks may use that memory again.
  const std::atomic<std::uint32_t>* abort_word = nullptr;
  std::function<Block(std::size_t)> allocate;  // From this rank's memory. Throws Error kNoMemory.

  // sent_bytes: payload that this rank has let other ranks read, or has written to them.
  // staged_bytes: the part of this payload that was first copied to shared memory. Only the thread
  // that works with the memory adds to the counters. Any thread may read them.
  std::atomic<std::uint64_t> sent_bytes{0};
  std::atomic<std::uint64_t> staged_bytes{0};
};

}  // namespace rota::transport
