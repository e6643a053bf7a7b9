// Maps the arenas, and finds the control pages and mailboxes in them.
#include "transport/shm/domain.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include <rota/error.h>

#include "base/arena_size.h"
#include "base/assert.h"
#include "base/counted.h"
#include "os/host.h"

namespace rota::transport::shm {
namespace {

// Values are often at the same offset in all arenas, and ranks work on them together. AMD's
// first-level caches tell lines apart by a hash of address bits 12 to 27. If arenas began at
// multiples of 256 MiB, such a cache would confuse these values, and work on them would be eight
// times as slow.
constexpr std::size_t kApart = 17 * kPage;  // Changes bits in both halves of the hash.

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

}  // namespace

Domain::Domain(std::vector<os::Fd> arenas, std::size_t page_bytes) : page_bytes_(page_bytes) {
  mappings_.reserve(arenas.size());
  for (os::Fd& arena : arenas) {
    mappings_.emplace_back(std::move(arena), mappings_.size() * kApart, page_bytes);
    if (mappings_.back().bytes().size() <= payload_offset(arenas.size(), page_bytes)) {
      throw Error(ErrorCode::kInvalidArgument,
                  "a shared arena of " + std::to_string(mappings_.back().bytes().size()) +
                      " bytes is too small for " + base::counted_ranks(arenas.size()));
    }
  }
}

namespace {

// Returns the object at `offset`. The pages start as zeros, which is a valid first state of every
// object in them.
template <class T>
T& object_at(std::span<std::byte> arena, std::uint64_t offset) {
  if (offset % alignof(T) != 0 || offset > arena.size() || arena.size() - offset < sizeof(T)) {
    throw Error(ErrorCode::kMismatch, "a peer points outside of its shared arena");
  }
  return *reinterpret_cast<T*>(arena.data() + offset);
}

}  // namespace

ControlPage& Domain::control(std::size_t arena, std::uint64_t offset) const {
  return object_at<ControlPage>(bytes(arena), offset);
}

Mailbox& Domain::mailbox(std::size_t arena, std::uint64_t offset, std::size_t index) const {
  return object_at<Mailbox>(bytes(arena), offset + index * sizeof(Mailbox));
}

GroupLayout layout_of_all(std::vector<std::size_t> names) {
  const std::size_t world_size = names.size();
  GroupLayout layout;
  layout.arenas.resize(world_size);
  std::iota(layout.arenas.begin(), layout.arenas.end(), std::size_t{0});
  layout.mailboxes.assign(world_size, kPage);
  layout.controls.assign(world_size, 0);
  layout.names = std::move(names);
  return layout;
}

std::shared_ptr<memory::Arena> open_arena(const std::shared_ptr<Domain>& domain, std::size_t rank) {
  ROTA_ASSERT(rank < domain->world_size());
  const std::size_t page_bytes = domain->page_bytes();
  const std::size_t front = payload_offset(domain->world_size(), page_bytes);
  domain->mapping(rank).reserve(0, front);
  return std::make_shared<memory::Arena>(domain->mapping(rank), front, domain, page_bytes);
}

std::size_t thread_arena_bytes(std::size_t count) {
  const base::ArenaLimits limits{.file_bytes = os::file_size_limit_bytes(),
                                 .address_bytes = os::free_address_bytes()};
  const std::uint64_t wanted =
      sizeof(void*) == 8 ? 16 * kGiB : base::arena_bytes(0, count, /*is_64_bit=*/false);
  const std::size_t bytes = base::within_limits(static_cast<std::size_t>(wanted), count, limits);
  if (bytes == 0) throw Error(ErrorCode::kNoMemory, base::lack_of_room(count, limits));
  return bytes;
}

std::shared_ptr<Domain> make_thread_arenas(std::size_t count, std::size_t bytes,
                                           std::size_t page_bytes) {
  std::vector<os::Fd> arenas;
  for (std::size_t i = 0; i < count; ++i) {
    arenas.push_back(os::make_shared_memory("rota-thread-" + std::to_string(i), bytes));
  }
  return std::make_shared<Domain>(std::move(arenas), page_bytes);
}

}  // namespace rota::transport::shm
