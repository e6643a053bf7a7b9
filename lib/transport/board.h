// What ranks that share memory tell each other at once: each has a notice, which it alone writes
// and all the others read. Messages go by channels; here everybody meets everybody, in exchanges
// that follow one another.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <rota/memory.h>

namespace rota::transport {

// One line of a cache, so that whoever looks for the head gets all of it. The pages start as zeros,
// and exchanges are counted from 1.
struct alignas(64) Post {
  static constexpr std::size_t kWords = 7;

  // The exchange's number, and a digest of the signature above it; written last. In one word, as
  // the line is on its way to and fro for each store that meets a look.
  std::atomic<std::uint64_t> head;
  std::array<std::uint64_t, kWords> content;

  const std::byte* bytes() const noexcept {
    return reinterpret_cast<const std::byte*>(content.data());
  }
};
static_assert(sizeof(Post) == 64);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// A rank is at most so many exchanges ahead of what it has finished.
inline constexpr std::uint64_t kSharedAtOnce = 8;

// Exchange n uses post n % kPosts. Who posts for n + kPosts has seen all posts for half as many
// before that, so all have finished n: nobody reads its posts any more.
struct Notice {
  static constexpr std::uint64_t kPosts = 2 * kSharedAtOnce;

  std::array<Post, kPosts> posts;
  // Shares of values that this rank has reduced for all, and segments that it has brought to its
  // stage. All ranks do the same ones in the same order, so that numbers say which.
  alignas(64) std::atomic<std::uint64_t> shares;
  std::atomic<std::uint64_t> segments;
  std::uint64_t stage;  // Where it is in the rank's memory; said with the first segment.
  alignas(64) std::array<std::array<std::uint64_t, 4>, kPosts> signatures;  // Digests are of them.
};

// One rank's view of all notices. One thread at a time.
class Board {
 public:
  using Signature = std::array<std::uint64_t, 4>;

  struct Seat {
    Notice* notice = nullptr;
    std::span<std::byte> memory;  // That all ranks reach, of this one.
  };

  // `broken`: not zero once some rank has failed. `allocate`: takes of the own memory.
  Board(std::size_t rank, std::vector<Seat> seats, const std::atomic<std::uint32_t>& broken,
        std::function<Block(std::size_t)> allocate)
      : rank_(rank), seats_(std::move(seats)), broken_(broken), allocate_(std::move(allocate)) {}

  std::size_t rank() const noexcept { return rank_; }
  std::size_t world_size() const noexcept { return seats_.size(); }
  std::uint64_t number() const noexcept { return number_; }  // Of the exchange posted for last.

  // From then on nobody may begin to write to the memory of others: they have it back.
  bool broken() const noexcept { return broken_.load(std::memory_order_relaxed) != 0; }

  std::span<std::byte> memory(std::size_t rank) const noexcept { return seats_[rank].memory; }

  // Memory that others reach, for values that they do not. Throws Error kNoMemory.
  std::span<std::byte> stage() {
    if (stage_.bytes().empty()) stage_ = allocate_(kStageBytes);
    return stage_.bytes();
  }
  // In the own memory. Requires an earlier stage().
  std::uint64_t stage_offset() const noexcept {
    return static_cast<std::uint64_t>(stage_.bytes().data() - seats_[rank_].memory.data());
  }

  using Content = std::array<std::uint64_t, Post::kWords>;

  // Begins the next exchange, whose number it returns: shows the first `bytes` of `content` to all,
  // with the signature. Requires that all but kSharedAtOnce - 1 before it are finished.
  std::uint64_t post(const Signature& signature, const Content& content,
                     std::size_t bytes) noexcept {
    Notice& own = *seats_[rank_].notice;
    ++number_;
    own.signatures[number_ % Notice::kPosts] = signature;
    Post& post = own.posts[number_ % Notice::kPosts];
    for (std::size_t word = 0; word * sizeof(std::uint64_t) < bytes; ++word) {
      post.content[word] = content[word];
    }
    const std::uint64_t head = digest_of(signature) << kNumberBits | (number_ & kNumber);
    post.head.store(head, std::memory_order_release);
    return number_;
  }

  // Asks for the next post's line, which others have read last, while there is other work to do.
  void make_ready() const noexcept {
    const Post& next = seats_[rank_].notice->posts[(number_ + 1) % Notice::kPosts];
#if defined(__x86_64__)
    asm volatile("prefetchw %0" ::"m"(next));  // GCC's own takes the line for reading.
#else
    __builtin_prefetch(&next, 1);
#endif
  }

  // What a rank has posted for an exchange, or null before it has.
  const Post* post_of(std::size_t rank, std::uint64_t number) const noexcept {
    const Post& post = seats_[rank].notice->posts[number % Notice::kPosts];
    return is_for(post.head.load(std::memory_order_acquire), number) ? &post : nullptr;
  }
  // Whether it is for what this rank has posted for.
  bool agrees(const Post& post, std::uint64_t number) const noexcept {
    const Post& own = seats_[rank_].notice->posts[number % Notice::kPosts];
    return post.head.load(std::memory_order_relaxed) == own.head.load(std::memory_order_relaxed);
  }

  // Several exchanges may be under way, but this rank works on one at a time, in their order.
  bool is_turn_of(std::uint64_t number) const noexcept { return turn_ == number; }
  void pass_turn() noexcept { ++turn_; }

  // Where ranks write to each other's memory: that this one has done its share of it. Returns how
  // many it has done; others have done the same share once is_done() says so of that number. Who
  // sees it knows of all that was known to those whose values were read: that one of them had given
  // up, and had them back.
  std::uint64_t say_done() noexcept {
    std::atomic_thread_fence(std::memory_order_acquire);
    seats_[rank_].notice->shares.store(++shares_, std::memory_order_release);
    return shares_;
  }
  // The same of a share that is empty, which nobody waits for.
  std::uint64_t pass_over() noexcept { return ++shares_; }
  bool is_done(std::size_t rank, std::uint64_t share) const noexcept {
    return seats_[rank].notice->shares.load(std::memory_order_acquire) >= share;
  }

  // The same of what is brought to the stages, segment by segment.
  std::uint64_t say_staged() noexcept {
    Notice& own = *seats_[rank_].notice;
    if (segments_ == 0) own.stage = stage_offset();
    own.segments.store(++segments_, std::memory_order_release);
    return segments_;
  }
  bool is_staged(std::size_t rank, std::uint64_t segment) const noexcept {
    return seats_[rank].notice->segments.load(std::memory_order_acquire) >= segment;
  }

  // Requires that is_staged() was true of it.
  std::uint64_t stage_of(std::size_t rank) const noexcept { return seats_[rank].notice->stage; }

  // Payload that this rank has let others read, or written to them; and that went by the stage.
  // Any thread may ask.
  void count_sent(std::uint64_t bytes) noexcept { add(sent_bytes_, bytes); }
  void count_staged(std::uint64_t bytes) noexcept { add(staged_bytes_, bytes); }
  std::uint64_t sent_bytes() const noexcept { return sent_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t staged_bytes() const noexcept {
    return staged_bytes_.load(std::memory_order_relaxed);
  }

  // What a rank says that it does in exchange `number`; empty before it has posted for it.
  const Signature* signature_of(std::size_t rank, std::uint64_t number) const noexcept {
    const Notice& notice = *seats_[rank].notice;
    return post_of(rank, number) ? &notice.signatures[number % Notice::kPosts] : nullptr;
  }

 private:
  static constexpr std::size_t kStageBytes = 256 * 1024;  // Stays in a second-level cache.

  // By one writer.
  static void add(std::atomic<std::uint64_t>& total, std::uint64_t bytes) noexcept {
    total.store(total.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }

  static constexpr int kNumberBits = 32;
  static constexpr std::uint64_t kNumber = (std::uint64_t{1} << kNumberBits) - 1;

  static bool is_for(std::uint64_t head, std::uint64_t number) noexcept {
    return (head & kNumber) == (number & kNumber);
  }
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
  std::uint64_t turn_ = 1;
  std::uint64_t shares_ = 0;
  std::uint64_t segments_ = 0;
  std::function<Block(std::size_t)> allocate_;
  Block stage_;
  std::atomic<std::uint64_t> sent_bytes_{0};
  std::atomic<std::uint64_t> staged_bytes_{0};
};

}  // namespace rota::transport
