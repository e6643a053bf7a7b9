// Flags between ranks that share memory. Each rank has one page of flags: it alone writes the page,
// and all other ranks read it. All ranks number collectives alike, from 1.
//
// A store of a flag releases, and a load of a peer's flag acquires: a rank that sees the flag also
// sees what its owner did before. orders_test shows that each of these orders is needed.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <rota/error.h>
#include <rota/memory.h>

#include "collectives/running.h"
#include "transport/shared_memory.h"

namespace rota::collectives {

// One cache line: a rank that reads the head gets the content with it.
struct alignas(64) Post {
  static constexpr std::size_t kWords = 7;

  // The collective's number in the lower bits, a digest of the signature in the upper bits. This
  // word is written last. It is a single word: with two stores, a peer polling between them would
  // bounce the cache line twice.
  std::atomic<std::uint64_t> head;
  std::array<std::uint64_t, kWords> content;

  const std::byte* bytes() const noexcept {
    return reinterpret_cast<const std::byte*>(content.data());
  }
};
static_assert(sizeof(Post) == 64);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// A rank is at most kMostRunning collectives ahead of the last one that it has finished. Collective
// n uses post n % kPosts. A rank that posts for n + kPosts has finished n + kPosts / 2, and so has
// seen all posts for it. Each rank had finished n before it posted for n + kPosts / 2. So no rank
// reads the posts of n any more.
struct FlagsPage {
  static constexpr std::uint64_t kPosts = 2 * kMostRunning;

  std::array<Post, kPosts> posts;
  // The number of slices that this rank has reduced for all ranks, and the number of segments that
  // it has copied to its staging buffer. All ranks handle the segments in the same order, and each
  // rank reduces its own slice of every segment. So a number means the same segment on all ranks.
  alignas(64) std::atomic<std::uint64_t> shares;
  std::atomic<std::uint64_t> segments;
  std::uint64_t stage;  // Staging buffer's offset in memory; set with the first segment.
  alignas(64) std::array<Signature::Words, kPosts> signatures;  // A post's head has the digest.

  // For collectives whose values are on devices. Before its post, a rank may show where its values
  // are. If all ranks do, they open each other's values, and the post follows.
  struct alignas(64) OnDevice {
    std::atomic<std::uint64_t> shown;    // The number of the latest collective that was shown.
    std::atomic<std::uint64_t> refused;  // 1 once this rank could not open the values of others.
    std::atomic<std::uint64_t> offer;    // Offset in memory of what was shown.
    std::array<std::atomic<std::uint64_t>, 4> signature;  // Of what was shown.
  };
  OnDevice on_device;
};

static_assert(sizeof(FlagsPage) <= sizeof(transport::SharedPage));

// One rank's view of all pages. Only one thread at a time may use it, except for
// allocate_for_devices(), which any thread may call.
class Flags {
 public:
  explicit Flags(transport::SharedMemory& shared)
      : shared_(shared), rank_(shared.rank), ranks_(shared.ranks) {}

  std::size_t rank() const noexcept { return rank_; }
  std::size_t world_size() const noexcept { return ranks_.size(); }
  std::uint64_t number() const noexcept { return number_; }  // Of the last post.

  // Returns true once a rank has failed. From then on, no rank may begin to write to other ranks'
  // memory: those ranks may already use their memory for something else.
  bool broken() const noexcept {
    // Relaxed: the rank reads nothing because of it, and one that sees it late is as one that was
    // already writing.
    return shared_.abort_word->load(std::memory_order_relaxed) != 0;
  }

  std::span<std::byte> memory(std::size_t rank) const noexcept { return ranks_[rank].memory; }

  // Returns the staging buffer: memory that peers can access, for values in memory that peers
  // cannot access. Throws Error kNoMemory.
  std::span<std::byte> stage() {
    if (stage_.bytes().empty()) stage_ = shared_.allocate(kStageBytes);
    return stage_.bytes();
  }
  // Returns the staging buffer's offset in this rank's memory. Requires an earlier stage().
  std::uint64_t stage_offset() const noexcept {
    return static_cast<std::uint64_t>(stage_.bytes().data() - memory(rank_).data());
  }

  // Returns memory that peers can access, for values on devices. Throws Error kNoMemory, whose text
  // names the rank and says what to do.
  Block allocate_for_devices(std::size_t bytes) {
    try {
      return shared_.allocate(bytes);
    } catch (const Error& error) {
      throw Error(error.code(), "rank " + std::to_string(rank_) + ": " + error.what() +
                                    ", and values on devices need them there: give back memory of "
                                    "Communicator::allocate(), or pass fewer values in a call");
    }
  }

  using Content = std::array<std::uint64_t, Post::kWords>;

  // Begins the next collective and returns its number. Shows all ranks the first `bytes` bytes of
  // `content`, and the signature: `planned` with `sequence`, built directly in the page. Requires
  // that all earlier collectives, except the last kMostRunning - 1 of them, are finished.
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
    post.head.store(head, std::memory_order_release);  // Publishes content and signature.
    return number_;
  }

  // Fetches the cache line of the next post for writing, while there is other work to do. Other
  // ranks have read the line, so the write of the post would wait for it.
  void make_ready() const noexcept {
    const Post& next = own_page().posts[(number_ + 1) % FlagsPage::kPosts];
#if defined(__x86_64__)
    asm volatile("prefetchw %0" ::"m"(next));  // __builtin_prefetch of GCC fetches for reading.
#else
    __builtin_prefetch(&next, 1);
#endif
  }

  // Returns the post of a rank for a collective, or null if the rank has not posted yet.
  const Post* post_of(std::size_t rank, std::uint64_t number) const noexcept {
    const Post& post = page_of(rank).posts[number % FlagsPage::kPosts];
    return is_for(post.head.load(std::memory_order_acquire), number) ? &post : nullptr;
  }
  // Returns whether the post has the number and the digest of this rank's own post. Relaxed,
  // because post_of() has acquired the post, and this rank has written its own.
  bool agrees(const Post& post, std::uint64_t number) const noexcept {
    const Post& own = own_page().posts[number % FlagsPage::kPosts];
    return post.head.load(std::memory_order_relaxed) == own.head.load(std::memory_order_relaxed);
  }

  // Several collectives may be under way, but this rank works on one at a time, in the order of
  // their numbers.
  bool is_turn_of(std::uint64_t number) const noexcept { return turn_ == number; }
  void pass_turn() noexcept { ++turn_; }

  // Announces that this rank has reduced its slice, and has written the results to other ranks'
  // memory. Returns the slice's number. With this number, is_done() says whether another rank has
  // reduced its own slice of the same segment. Another rank may have aborted and got its values
  // back before this rank read them. Then each rank that sees this slice done also sees the abort.
  // The fence and the release store put the abort before the announcement.
  std::uint64_t say_done() noexcept {
    std::atomic_thread_fence(std::memory_order_acquire);
    own_page().shares.store(++shares_, std::memory_order_release);
    return shares_;
  }
  // Counts an empty slice, which no rank waits for.
  std::uint64_t pass_over() noexcept { return ++shares_; }
  bool is_done(std::size_t rank, std::uint64_t share) const noexcept {
    return page_of(rank).shares.load(std::memory_order_acquire) >= share;
  }

  // Announce and check copies to the staging buffers, one segment at a time, as say_done() and
  // is_done() announce and check slices.
  std::uint64_t say_staged() noexcept {
    FlagsPage& own = own_page();
    if (segments_ == 0) own.stage = stage_offset();
    own.segments.store(++segments_, std::memory_order_release);
    return segments_;
  }
  bool is_staged(std::size_t rank, std::uint64_t segment) const noexcept {
    return page_of(rank).segments.load(std::memory_order_acquire) >= segment;
  }

  // Returns the offset of the rank's staging buffer. Requires that is_staged() was true for the
  // rank.
  std::uint64_t stage_of(std::size_t rank) const noexcept { return page_of(rank).stage; }

  // Shows all ranks, before the next post, that this rank's values are on a device. `offer` is the
  // offset of its DeviceOffer. Requires that no other collective is under way here.
  void show_on_device(const Signature& planned, std::uint64_t sequence,
                      std::uint64_t offer) noexcept {
    FlagsPage::OnDevice& own = own_page().on_device;
    const Signature::Words& words = planned.words();
    for (std::size_t word = 0; word < words.size(); ++word) {
      own.signature[word].store(word == Signature::kSequence ? sequence : words[word],
                                std::memory_order_relaxed);
    }
    own.offer.store(offer, std::memory_order_relaxed);
    own.shown.store(number_ + 1, std::memory_order_release);
  }
  // Returns whether a rank has shown its values of collective `number`.
  bool has_shown(std::size_t rank, std::uint64_t number) const noexcept {
    return page_of(rank).on_device.shown.load(std::memory_order_acquire) == number;
  }
  std::uint64_t offer_on_device(std::size_t rank) const noexcept {
    return page_of(rank).on_device.offer.load(std::memory_order_relaxed);
  }
  // Tells all ranks, with the next post, that this rank could not open the values of others.
  void refuse() noexcept { own_page().on_device.refused.store(1, std::memory_order_relaxed); }
  bool has_refused(std::size_t rank) const noexcept {
    return page_of(rank).on_device.refused.load(std::memory_order_relaxed) != 0;
  }

  void count_sent(std::uint64_t bytes) noexcept { add(shared_.sent_bytes, bytes); }
  void count_staged(std::uint64_t bytes) noexcept { add(shared_.staged_bytes, bytes); }

  // Returns the signature of a rank in collective `number`, or null if the rank has not posted yet.
  const Signature::Words* signature_of(std::size_t rank, std::uint64_t number) const noexcept {
    const FlagsPage& page = page_of(rank);
    return post_of(rank, number) ? &page.signatures[number % FlagsPage::kPosts] : nullptr;
  }
  // Returns the same for a rank that has posted, or has shown its values. Nothing for other ranks.
  std::optional<Signature> known_signature_of(std::size_t rank,
                                              std::uint64_t number) const noexcept {
    if (const Signature::Words* words = signature_of(rank, number)) return Signature(*words);
    if (!has_shown(rank, number)) return std::nullopt;
    Signature::Words shown{};
    for (std::size_t word = 0; word < shown.size(); ++word) {
      shown[word] = page_of(rank).on_device.signature[word].load(std::memory_order_relaxed);
    }
    return Signature(shown);
  }

 private:
  static constexpr std::size_t kStageBytes = 256 * 1024;  // Fits a second-level cache.

  // The total has one writer, so no read-modify-write is needed.
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
