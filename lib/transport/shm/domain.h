// The arenas of all ranks, mapped into this process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/arena.h"
#include "os/fd.h"
#include "os/shared_memory.h"
#include "transport/shm/layout.h"

namespace rota::transport::shm {

// A process that is one rank makes one of these. A process whose threads are the ranks shares one,
// so that all of them see the same addresses (and a race detector sees all of them).
class Domain {
 public:
  // One memfd a rank, in rank order. Throws Error kSystem, kNoMemory, kInvalidArgument.
  explicit Domain(std::vector<os::Fd> arenas);

  std::size_t world_size() const noexcept { return mappings_.size(); }
  std::span<std::byte> bytes(std::size_t rank) const noexcept { return mappings_[rank].bytes(); }
  os::SharedMapping& mapping(std::size_t rank) noexcept { return mappings_[rank]; }

  // What lies at an offset of an arena. Throw Error kMismatch where it would leave the arena.
  ControlPage& control(std::size_t arena, std::uint64_t offset) const;
  Mailbox& mailbox(std::size_t arena, std::uint64_t offset, std::size_t index) const;

 private:
  std::vector<os::SharedMapping> mappings_;
};

// Where the ranks of a group meet. All by rank.
struct Meeting {
  std::vector<std::size_t> arenas;  // Indices; ranks that are threads may share one.
  std::vector<std::uint64_t>
      mailboxes;                        // Offsets in these of as many mailboxes as there are ranks.
  std::vector<std::uint64_t> controls;  // Offsets of control pages.
  std::vector<std::size_t> names;       // As errors call them.
};

// That of as many ranks as have arenas, at the front of these.
Meeting meeting_of_all(std::vector<std::size_t> names);

// Backs the front of `rank`'s own arena with pages and starts a dealer for the rest of it. Every
// rank calls it before any of them sends. Throws Error kNoMemory.
std::shared_ptr<memory::Arena> open_arena(const std::shared_ptr<Domain>& domain, std::size_t rank);

// Of ranks that are threads of one process. For each of `count` threads: room in the address space,
// which all share, and not memory. Throws Error kNoMemory where files may not be so large that it
// is of use.
std::size_t thread_arena_bytes(std::size_t count);

// Throws what Domain's constructor does.
std::shared_ptr<Domain> make_thread_arenas(std::size_t count, std::size_t bytes);

}  // namespace rota::transport::shm
