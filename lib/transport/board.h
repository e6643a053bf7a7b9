// What ranks that share memory tell each other at once: each has a notice, which it alone writes
// and all the others read. Messages go by channels; here everybody meets everybody, in one exchange
// after the other.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rota::transport {

// One line of a cache, so that whoever looks for the number gets all of it. The pages start as
// zeros, and exchanges are counted from 1.
struct alignas(64) Post {
  static constexpr std::size_t kContentBytes = 48;

  std::atomic<std::uint64_t> number;  // The last exchange it was for; written last.
  std::uint64_t digest;               // Of the signature.
  std::array<std::byte, kContentBytes> content;
};
static_assert(sizeof(Post) == 64);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// Exchange n uses what lies at n % 2. Who posts for n + 2 has seen all posts for n + 1, so all have
// read those for n.
struct Notice {
  std::array<Post, 2> posts;
  alignas(64) std::atomic<std::uint64_t> done;  // Exchanges whose second half this rank has done.
  alignas(64) std::array<std::array<std::uint64_t, 4>, 2> signatures;  // What the digests are of.
};

// One rank's view of all notices. One thread at a time.
class Board {
 public:
  using Signature = std::array<std::uint64_t, 4>;

  struct Seat {
    Notice* notice = nullptr;
    std::span<std::byte> memory;  // That all ranks reach, of this one.
  };

  // `broken`: not zero once some rank has failed.
  Board(std::size_t rank, std::vector<Seat> seats, const std::atomic<std::uint32_t>& broken)
      : rank_(rank), seats_(std::move(seats)), broken_(broken) {}

  std::size_t rank() const noexcept { return rank_; }
  std::size_t world_size() const noexcept { return seats_.size(); }
  std::uint64_t number() const noexcept { return number_; }  // Of the exchange begun last.

  // From then on nobody may write to the memory of others: they have it back.
  bool broken() const noexcept { return broken_.load(std::memory_order_relaxed) != 0; }

  std::span<std::byte> memory(std::size_t rank) const noexcept { return seats_[rank].memory; }

  // The own post of the next exchange, for its content; publish() shows it to the others.
  std::array<std::byte, Post::kContentBytes>& begin(const Signature& signature) noexcept {
    Notice& own = *seats_[rank_].notice;
    ++number_;
    own.signatures[number_ % 2] = signature;
    Post& post = own.posts[number_ % 2];
    post.digest = digest_of(signature);
    return post.content;
  }
  void publish() noexcept {
    seats_[rank_].notice->posts[number_ % 2].number.store(number_, std::memory_order_release);
  }

  // What a rank has posted for the exchange begun last, or null before it has.
  const Post* post_of(std::size_t rank) const noexcept {
    const Post& post = seats_[rank].notice->posts[number_ % 2];
    return post.number.load(std::memory_order_acquire) == number_ ? &post : nullptr;
  }
  bool agrees(const Post& post) const noexcept {
    return post.digest == seats_[rank_].notice->posts[number_ % 2].digest;
  }

  // Of an exchange that has a second half, in which ranks write to each other's memory.
  void say_done() noexcept { seats_[rank_].notice->done.store(number_, std::memory_order_release); }
  bool is_done(std::size_t rank) const noexcept {
    return seats_[rank].notice->done.load(std::memory_order_acquire) >= number_;
  }

  // Payload that this rank has let others read, or written to them. Any thread may ask.
  void count_sent(std::uint64_t bytes) noexcept {
    const std::uint64_t before = sent_bytes_.load(std::memory_order_relaxed);
    sent_bytes_.store(before + bytes, std::memory_order_relaxed);
  }
  std::uint64_t sent_bytes() const noexcept { return sent_bytes_.load(std::memory_order_relaxed); }

  // What a rank says that it does in exchange `number`; empty before it has posted for it.
  const Signature* signature_of(std::size_t rank, std::uint64_t number) const noexcept {
    const Notice& notice = *seats_[rank].notice;
    if (notice.posts[number % 2].number.load(std::memory_order_acquire) != number) return nullptr;
    return &notice.signatures[number % 2];
  }

 private:
  static std::uint64_t digest_of(const Signature& signature) noexcept {
    std::uint64_t digest = 0;
    for (const std::uint64_t word : signature) {
      digest = (digest ^ word) * 0x9e37'79b9'7f4a'7c15;
      digest ^= digest >> 29;
    }
    return digest;
  }

  std::size_t rank_;
  std::vector<Seat> seats_;
  const std::atomic<std::uint32_t>& broken_;
  std::uint64_t number_ = 0;
  std::atomic<std::uint64_t> sent_bytes_{0};
};

}  // namespace rota::transport
