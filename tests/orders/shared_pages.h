// The memory of ranks that share it, for programs that work on flags without a transport.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "transport/shared_memory.h"
#include "transport/shm/abort_word.h"

namespace rota::orders {

template <std::size_t kRanks>
class SharedPages {
 public:
  // Each rank has room for values, and a staging buffer of `stage_bytes` behind it.
  SharedPages(std::size_t value_bytes, std::size_t stage_bytes)
      : value_bytes_(value_bytes), stage_bytes_(stage_bytes) {
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      memory_[rank].reset(new (std::align_val_t{4096}) std::byte[value_bytes + stage_bytes]{});
      std::construct_at(&pages_[rank]);
    }
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      transport::SharedMemory& own = shared_[rank];
      own.rank = rank;
      for (std::size_t r = 0; r < kRanks; ++r) own.ranks.push_back({&pages_[r], memory(r)});
      own.abort_word = &abort_word_.word();
      own.allocate = [this, rank](std::size_t) {
        return Block(memory(rank).subspan(value_bytes_), std::make_shared<Room>());
      };
    }
  }

  transport::SharedMemory& of(std::size_t rank) { return shared_[rank]; }
  transport::shm::AbortWord& abort_word() { return abort_word_; }
  std::span<std::byte> memory(std::size_t rank) {
    return {memory_[rank].get(), value_bytes_ + stage_bytes_};
  }
  std::span<float> values(std::size_t rank) {
    return {reinterpret_cast<float*>(memory_[rank].get()), value_bytes_ / sizeof(float)};
  }

 private:
  // Owns nothing: the memory outlives its blocks.
  class Room final : public Block::Owner {
    void release(std::span<std::byte>) noexcept override {}
  };
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete (bytes, std::align_val_t{4096}); }
  };

  std::size_t value_bytes_;
  std::size_t stage_bytes_;
  std::array<std::unique_ptr<std::byte[], Free>, kRanks> memory_{};
  std::array<transport::SharedPage, kRanks> pages_{};
  transport::shm::AbortWord abort_word_{};
  std::array<transport::SharedMemory, kRanks> shared_{};
};

}  // namespace rota::orders
