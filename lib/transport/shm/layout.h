// What lies at the front of every rank's arena: who wrote what, for whom. Ranks are those that
// share memory, by their places among these.
//
//   arena of rank r:  | ControlPage | Mailbox for rank 0 | Mailbox for rank 1 | … | payload …
//
// A control page has the page that the rank shares and its rings; the abort word in use is rank
// 0's. A mailbox is written by its sender, r, but for its last line, which the receiver writes. A
// group that is made later has its mailboxes, and its control page, further on in its members'
// arenas.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/channel.h"
#include "transport/shared_memory.h"
#include "transport/shm/abort_word.h"

namespace rota::transport::shm {

inline constexpr std::size_t kLine = 64;

// News for a rank that can sleep where it hears of them: see Doorbell in channel.h.
struct alignas(kLine) Rings {
  std::atomic<std::uint64_t> count;
  std::atomic<std::uint32_t> asleep;  // 1: whoever rings next wakes it, and makes this 0.
};

struct ControlPage {
  AbortWord abort_word;
  std::atomic<std::uint32_t> left;  // 1: the rank has closed its communicator, after all it did.
  SharedPage shared;
  Rings rings;
};

struct alignas(kLine) Mailbox {
  // The message: where its payload lies in the sender's arena, and how to read it.
  std::atomic<std::uint64_t> published;  // Messages so far; bumped last.
  std::uint64_t offset;                  // In place: of the payload. Staged: of the staging ring.
  std::uint64_t ring_bytes;              // 0 = in place, else the size of the staging ring.
  Header header;

  alignas(kLine) std::atomic<std::uint64_t> staged;  // Where in the ring the sender is.

  alignas(kLine) std::atomic<std::uint64_t> taken;  // Messages taken so far.
  std::atomic<std::uint64_t> unstaged;              // Bytes read from the ring so far.
};
static_assert(sizeof(Mailbox) == 3 * kLine);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

inline constexpr std::size_t kPage = 4096;
static_assert(sizeof(ControlPage) <= kPage);

// Bytes before the payload, a multiple of the page.
constexpr std::size_t front_bytes(std::size_t world_size) noexcept {
  const std::size_t mailboxes = world_size * sizeof(Mailbox);
  return kPage + (mailboxes + kPage - 1) / kPage * kPage;
}

}  // namespace rota::transport::shm
