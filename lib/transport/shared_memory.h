// Memory that all ranks of a group reach. A transport lends it; what is written there, and in which
// order, is its user's business.
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

// Begins as zeros, and only its rank writes to it.
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
  // Not zero once some rank has failed: from then on nobody may begin to write to the memory of
  // others, which have it back.
  const std::atomic<std::uint32_t>* abort_word = nullptr;
  std::function<Block(std::size_t)> allocate;  // Of this rank's memory. Throws Error kNoMemory.

  // Payload that this rank has let others read, or written to them; and what of it was copied to
  // where they reach it. Counted by the one thread that works with the memory; any may ask.
  std::atomic<std::uint64_t> sent_bytes{0};
  std::atomic<std::uint64_t> staged_bytes{0};
};

}  // namespace rota::transport
