// What ranks that share memory tell each other: each has a page of flags, which it alone writes and
// all the others read. Its collectives are counted from 1, by all ranks alike.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <rota/memory.h>

#include "collectives/running.h"
#include "transport/shared_memory.h"

namespace rota::collectives {

// One line of a cache, so that whoever looks for the head gets all of it.
struct alignas(64) Post {
  static constexpr std::size_t kWords = 7;

  // The collective's number, and a digest of the signature above it; written last. In one word, as
  // the line is on its way to and fro for each store that meets a look.
  std::atomic<std::uint64_t> head;
  std::array<std::uint64_t, kWords> content;

  const std::byte* bytes() const noexcept {
    return reinterpret_cast<const std::byte*>(content.data());
  }
};
static_assert(sizeof(Post) == 64);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// A rank is at most kMostRunning collectives ahead of what it has finished, and collective n uses
// post n % kPosts. A rank that posts for n + kPosts has seen all posts for half as many before
// that. So all ranks have finished n, and no rank reads its posts any more.
struct FlagsPage {
  static constexpr std::uint64_t kPosts = 2 * kMostRunning;

  std::array<Post, kPosts> posts;
  // Shares of values that this rank has reduced for all, and segments that it has brought to its
  // stage. All ranks do the same ones in the same order, so that numbers say which.
  alignas(64) std::atomic<std::uint64_t> shares;
  std::atomic<std::uint64_t> segments;
  std::uint64_t stage;  // Where it is in the rank's memory; said with the first segment.
  alignas(64) std::array<Signature::Words, kPosts> signatures;  // Digests are of them.
};

static_assert(sizeof(FlagsPage) <= sizeof(transport::SharedPage));

// One rank's view of all pages. One thread at a time.
class Flags {
 public:
  explicit Flags(transport::SharedMemory& shared)
      : shared_(shared), rank_(shared.rank), ranks_(shared.ranks) {}

  std::size_t rank() const noexcept { return rank_; }
  std::size_t world_size() const noexcept { return ranks_.size(); }
  std::uint64_t number() const noexcept { return number_; }  // Of the collective posted for last.

  // From then on nobody may begin to write to the memory of others: they have it back.
  bool broken() const noexcept { return shared_.abort_word->load(std::memory_order_relaxed) != 0; }

  std::span<std::byte> memory(std::size_t rank) const noexcept { return ranks_[rank].memory; }

  // Memory that others reach, for values that they do not. Throws Error kNoMemory.
  std::span<std::byte> stage() {
    if (stage_.bytes().empty()) stage_ = shared_.allocate(kStageBytes);
    return stage_.bytes();
  }
  // In the own memory. Requires an earlier stage().
  std::uint64_t stage_offset() const noexcept {
    return static_cast<std::uint64_t>(stage_.bytes().data() - memory(rank_).data());
  }

  using Content = std::array<std::uint64_t, Post::kWords>;

  // Begins the next collective, whose number it returns: shows the first `bytes` of `content` to
  // all, with the signature, which is `planned` but for its sequence: it is put together where it
  // belongs. Requires that all but kMostRunning - 1 before it are finished.
  std::uint64_t post(const Signature& planned, std::uint64_t sequence, const Content& content,
                     std::size_t bytes) noexcept {
    FlagsPage& own = own_page();
    ++number_;
    Signature::Words& signature = own.signatures[number_ % FlagsPage::kPosts];
    signature = planned.words();
    signature[Signature::kSequence] = sequence;
    Post& post = own.posts[number_ % FlagsPage::kPosts];
    for (std::size_t word = 0; word * sizeof(std::uint64_t) < bytes; ++word) {
      post.content[word] = content[word];
    }
    const std::uint64_t head = digest_of(signature) << kNumberBits | (number_ & kNumber);
    post.head.store(head, std::memory_order_release);
    return number_;
  }

  // Asks for the next post's line, which others have read last, while there is other work to do.
  void make_ready() const noexcept {
    const Post& next = own_page().posts[(number_ + 1) % FlagsPage::kPosts];
#if defined(__x86_64__)
    asm volatile("prefetchw %0" ::"m"(next));  // GCC's own takes the line for reading.
#else
    __builtin_prefetch(&next, 1);
#endif
  }

  // What a rank has posted for a collective, or null before it has.
  const Post* post_of(std::size_t rank, std::uint64_t number) const noexcept {
    const Post& post = page_of(rank).posts[number % FlagsPage::kPosts];
    return is_for(post.head.load(std::memory_order_acquire), number) ? &post : nullptr;
  }
  // Whether it is for what this rank has posted for.
  bool agrees(const Post& post, std::uint64_t number) const noexcept {
    const Post& own = own_page().posts[number % FlagsPage::kPosts];
    return post.head.load(std::memory_order_relaxed) == own.head.load(std::memory_order_relaxed);
  }

  // Several collectives may be under way, but this rank works on one at a time, in their order.
  bool is_turn_of(std::uint64_t number) const noexcept { return turn_ == number; }
  void pass_turn() noexcept { ++turn_; }

  // Where ranks write to each other's memory: that this one has done its share of it. Returns how
  // many it has done; others have done the same share once is_done() says so of that number. Who
  // sees it knows of all that was known to those whose values were read: that one of them had given
  // up, and had them back.
  std::uint64_t say_done() noexcept {
    std::atomic_thread_fence(std::memory_order_acquire);
    own_page().shares.store(++shares_, std::memory_order_release);
    return shares_;
  }
  // The same of a share that is empty, which nobody waits for.
  std::uint64_t pass_over() noexcept { return ++shares_; }
  bool is_done(std::size_t rank, std::uint64_t share) const noexcept {
    return page_of(rank).shares.load(std::memory_order_acquire) >= share;
  }

  // The same of what is brought to the stages, segment by segment.
  std::uint64_t say_staged() noexcept {
    FlagsPage& own = own_page();
    if (segments_ == 0) own.stage = stage_offset();
    own.segments.store(++segments_, std::memory_order_release);
    return segments_;
  }
  bool is_staged(std::size_t rank, std::uint64_t segment) const noexcept {
    return page_of(rank).segments.load(std::memory_order_acquire) >= segment;
  }

  // Requires that is_staged() was true of it.
  std::uint64_t stage_of(std::size_t rank) const noexcept { return page_of(rank).stage; }

  void count_sent(std::uint64_t bytes) noexcept { add(shared_.sent_bytes, bytes); }
  void count_staged(std::uint64_t bytes) noexcept { add(shared_.staged_bytes, bytes); }

  // What a rank says that it does in collective `number`; empty before it has posted for it.
  const Signature::Words* signature_of(std::size_t rank, std::uint64_t number) const noexcept {
    const FlagsPage& page = page_of(rank);
    return post_of(rank, number) ? &page.signatures[number % FlagsPage::kPosts] : nullptr;
  }

 private:
  static constexpr std::size_t kStageBytes = 256 * 1024;  // Stays in a second-level cache.

  // By one writer.
  static void add(std::atomic<std::uint64_t>& total, std::uint64_t bytes) noexcept {
    total.store(total.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }

  const FlagsPage& page_of(std::size_t rank) const noexcept {
    return *reinterpret_cast<const FlagsPage*>(ranks_[rank].page);
  }
  FlagsPage& own_page() noexcept { return *reinterpret_cast<FlagsPage*>(ranks_[rank_].page); }
  const FlagsPage& own_page() const noexcept { return page_of(rank_); }

  static constexpr int kNumberBits = 32;
  static constexpr std::uint64_t kNumber = (std::uint64_t{1} << kNumberBits) - 1;

  static bool is_for(std::uint64_t head, std::uint64_t number) noexcept {
    return (head & kNumber) == (number & kNumber);
  }
  static std::uint64_t digest_of(const Signature::Words& signature) noexcept {
    std::uint64_t digest = 0;
    for (const std::uint64_t word : signature) {
      digest = (digest ^ word) * 0x9e37'79b9'7f4a'7c15;
      digest ^= digest >> 29;
    }
    return digest;
  }

  transport::SharedMemory& shared_;
  std::size_t rank_;
  std::span<const transport::SharedMemory::OfRank> ranks_;
  std::uint64_t number_ = 0;
  std::uint64_t turn_ = 1;
  std::uint64_t shares_ = 0;
  std::uint64_t segments_ = 0;
  Block stage_;
};

}  // namespace rota::collectives
