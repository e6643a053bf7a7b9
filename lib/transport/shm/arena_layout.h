// Defines the layout of the front of every rank's arena: which rank writes what, and for which
// rank. A rank number here is an index among the ranks that share memory.
//
//   arena of rank r:  | ControlPage | Mailbox for rank 0 | Mailbox for rank 1 | … | payload …
//
// A control page holds an abort word, the page that the rank shares, and the rank's doorbell flag.
// The group uses only the abort word of rank 0. Rank r, the sender, writes a mailbox, except for
// the mailbox's last cache line, which the receiver writes. A group that is created later has its
// mailboxes and its control pages at later offsets in the arenas of its members.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/channel.h"
#include "transport/shared_memory.h"
#include "transport/shm/abort_word.h"

namespace rota::transport::shm {

inline constexpr std::size_t kLine = 64;

// Tells a rank to check its memory, even while the rank sleeps: see Doorbell in shm/channel.h.
struct alignas(kLine) DoorbellFlag {
  std::atomic<std::uint64_t> count;
  std::atomic<std::uint32_t> asleep;  // 1: the next rank that rings wakes this rank, and sets 0.
};

struct ControlPage {
  AbortWord abort_word;
  std::atomic<std::uint32_t> left;  // 1: has closed its communicator; the rank's last write.
  SharedPage shared;
  DoorbellFlag doorbell_flag;
};

struct alignas(kLine) Mailbox {
  // The message: where its payload is in the sender's arena, and how to read it.
  std::atomic<std::uint64_t> published;  // Messages so far; written last.
  std::uint64_t offset;                  // Of the payload (in place), or of the ring (staged).
  std::uint64_t ring_bytes;              // 0: in place; otherwise the size of the staging ring.
  Header header;

  alignas(kLine) std::atomic<std::uint64_t> staged;  // The sender's position in the ring.

  alignas(kLine) std::atomic<std::uint64_t> taken;  // Messages taken so far.
  std::atomic<std::uint64_t> unstaged;              // The receiver's position.
};
static_assert(sizeof(Mailbox) == 3 * kLine);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

inline constexpr std::size_t kPage = 4096;  // On every machine, even where pages are larger.
static_assert(sizeof(ControlPage) <= kPage);

// Returns the number of bytes of the control page and the mailboxes, a multiple of kPage.
constexpr std::size_t front_bytes(std::size_t world_size) noexcept {
  const std::size_t mailboxes = world_size * sizeof(Mailbox);
  return kPage + (mailboxes + kPage - 1) / kPage * kPage;
}

// Returns where the payload begins: at the next page of the machine.
constexpr std::size_t payload_offset(std::size_t world_size, std::size_t page_bytes) noexcept {
  return (front_bytes(world_size) + page_bytes - 1) / page_bytes * page_bytes;
}

}  // namespace rota::transport::shm
