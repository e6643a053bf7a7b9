// Has the arenas of all ranks of a domain, mapped into this process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/arena.h"
#include "os/fd.h"
#include "os/host.h"
#include "os/shared_mapping.h"
#include "transport/shm/arena_layout.h"

namespace rota::transport::shm {

// A process that is one rank makes one Domain. Threads that are ranks of one process share one
// Domain, so that all of them use the same addresses (and a race detector sees all accesses).
class Domain {
 public:
  // `arenas` has one memfd per rank, in rank order. `page_bytes` is the size of a page, a power of
  // two. Throws Error kSystem, kNoMemory, kInvalidArgument.
  explicit Domain(std::vector<os::Fd> arenas, std::size_t page_bytes = os::page_bytes());

  std::size_t world_size() const noexcept { return mappings_.size(); }
  std::size_t page_bytes() const noexcept { return page_bytes_; }
  std::span<std::byte> bytes(std::size_t rank) const noexcept { return mappings_[rank].bytes(); }
  os::SharedMapping& mapping(std::size_t rank) noexcept { return mappings_[rank]; }

  // Both functions return the object at an offset of an arena. They throw Error kMismatch if the
  // object is not inside the arena.
  ControlPage& control(std::size_t arena, std::uint64_t offset) const;
  Mailbox& mailbox(std::size_t arena, std::uint64_t offset, std::size_t index) const;

 private:
  std::size_t page_bytes_;
  std::vector<os::SharedMapping> mappings_;
};

// Where the ranks of a group find each other in memory. In each vector, the index is the rank.
struct GroupLayout {
  std::vector<std::size_t> arenas;  // Index of the arena. Ranks that are threads may share one.
  std::vector<std::uint64_t> mailboxes;  // Offset of the mailboxes, one per rank.
  std::vector<std::uint64_t> controls;   // Offset of the control page.
  std::vector<std::size_t> names;        // The rank's number in error texts.
};

// Returns the layout for all ranks of a domain, each with its own arena. All objects are at the
// front of the arenas.
GroupLayout layout_of_all(std::vector<std::size_t> names);

// Backs the front of `rank`'s own arena with pages, and returns an allocator for the rest of the
// arena. Every rank must call open_arena() before any rank sends. Throws Error kNoMemory.
std::shared_ptr<memory::Arena> open_arena(const std::shared_ptr<Domain>& domain, std::size_t rank);

// Returns the size of the arena of each of `count` threads that are ranks of one process. Arenas
// take room in the address space, which all threads share, but unused pages take no memory. Throws
// Error kNoMemory when the limit of file sizes or of addresses leaves too little. The size is whole
// pages of up to 64 KiB, whatever pages this machine has.
std::size_t thread_arena_bytes(std::size_t count);

// Makes a domain of `count` arenas with `bytes` bytes each. Throws what Domain's constructor
// throws.
std::shared_ptr<Domain> make_thread_arenas(std::size_t count, std::size_t bytes,
                                           std::size_t page_bytes = os::page_bytes());

}  // namespace rota::transport::shm
