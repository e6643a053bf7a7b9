// The content of a post whose values are too many to travel with it: where the values are, and the
// factor of this rank.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "collectives/description.h"
#include "collectives/operation.h"

namespace rota::collectives {

// gives_in() returns whether a rank contributes values to the result. takes_in() returns whether
// the rank receives the result.
bool gives_in(const Description& call, std::size_t rank) noexcept;
bool takes_in(const Description& call, std::size_t rank) noexcept;

struct Offer {
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

  std::uint64_t from = kNowhere;  // Offsets in the rank's own memory.
  std::uint64_t to = kNowhere;
  double factor = 1;                // Each rank may have its own factor.
  std::uint32_t is_list = 0;        // 1: a ScatterList is at `from`.
  std::uint32_t is_staged = 0;      // 1: the first segment is in the staging buffer.
  std::uint64_t signature[3] = {};  // Without its last word, which is 0.
};

// Returns this rank's offer. `memory`: the memory of this rank that peers can access.
Offer offer_of(const Operation& operation, std::span<const std::byte> memory) noexcept;

// Returns whether peers can access all values of `rank` that the peers must read or write.
bool is_reached(const Description& call, std::size_t rank, const Offer& offer) noexcept;

// The next four functions return the addresses and the size of an operation's values.
inline std::byte* buffer_of(const Operation& operation, Buffer buffer) noexcept {
  return operation.buffers[static_cast<std::size_t>(buffer)];
}
inline std::byte* contribution_of(const Operation& operation) noexcept {
  return buffer_of(operation, operation.planned->call.in_place ? Buffer::kValues : Buffer::kInput);
}
inline std::size_t bytes_of(const PlannedCollective& planned) noexcept {
  return planned.call.count * planned.reducer.element_bytes();
}
inline std::size_t bytes_of(const Operation& operation) noexcept {
  return bytes_of(*operation.planned);
}

}  // namespace rota::collectives
