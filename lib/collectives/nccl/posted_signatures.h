// Shows the signatures of NCCL's operations to the ranks that share memory: NCCL itself compares
// nothing, and gives wrong values or hangs if ranks make different calls.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "collectives/description.h"
#include "transport/shared_memory.h"

namespace rota::collectives::nccl {

// One rank's view of the signatures, which are at the end of the page that each rank writes: the
// flags of collectives in shared memory are at its beginning. Nobody
// waits for them: a rank compares what is there. Operations are numbered from 1, alike on all
// ranks.
class PostedSignatures {
 public:
  static constexpr std::size_t kBytes = 256;  // At the end of the page.

  explicit PostedSignatures(transport::SharedMemory& shared) noexcept : shared_(shared) {}

  void post(std::uint64_t number, const Signature& signature) noexcept {
    Post& post = slot_of(shared_.rank, number);
    post.number.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t i = 0; i < kWords; ++i) {
      post.words[i].store(signature.words()[i], std::memory_order_relaxed);
    }
    post.number.store(number, std::memory_order_release);
  }

  // Returns the signature of a rank's operation. Returns nothing if the rank has not posted it yet,
  // or is so far ahead that the signature is overwritten.
  std::optional<Signature> find(std::size_t rank, std::uint64_t number) const noexcept {
    const Post& post = slot_of(rank, number);
    if (post.number.load(std::memory_order_acquire) != number) return std::nullopt;
    Signature::Words words{};
    for (std::size_t i = 0; i < kWords; ++i) {
      words[i] = post.words[i].load(std::memory_order_relaxed);
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (post.number.load(std::memory_order_relaxed) != number) return std::nullopt;
    return Signature(words);
  }

 private:
  static constexpr std::size_t kWords = 3;  // The last word of a signature is for messages.
  static constexpr std::size_t kPosts = 8;

  struct Post {
    std::atomic<std::uint64_t> number;
    std::array<std::atomic<std::uint64_t>, kWords> words;
  };
  using Posts = std::array<Post, kPosts>;
  static_assert(sizeof(Posts) == kBytes);

  Post& slot_of(std::size_t rank, std::uint64_t number) const noexcept {
    auto* const end = reinterpret_cast<std::byte*>(shared_.ranks[rank].page + 1);
    return (*reinterpret_cast<Posts*>(end - sizeof(Posts)))[number % kPosts];
  }

  transport::SharedMemory& shared_;
};

}  // namespace rota::collectives::nccl
