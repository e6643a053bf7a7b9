// The arenas of all ranks, mapped into this process.
#pragma once
#include <cstddef>
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

  ControlPage& control() const noexcept;
  Mailbox& mailbox(std::size_t from, std::size_t to) const noexcept;

 private:
  std::vector<os::SharedMapping> mappings_;
};

// Backs the front of `rank`'s own arena with pages and starts a dealer for the rest of it. Every
// rank calls it before any of them sends. Throws Error kNoMemory.
std::shared_ptr<memory::Arena> open_arena(const std::shared_ptr<Domain>& domain, std::size_t rank);

}  // namespace rota::transport::shm
