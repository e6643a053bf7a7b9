// What a rank's post says where the values are too many to travel with it: where they lie, and how
// they count.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "collectives/description.h"
#include "collectives/operation.h"

namespace rota::collectives {

// Whether a rank has values that count in the result, and whether it gets that.
bool gives_in(const Description& call, std::size_t rank) noexcept;
bool takes_in(const Description& call, std::size_t rank) noexcept;

struct Offer {
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

  std::uint64_t from = kNowhere;  // Offsets in the rank's own memory.
  std::uint64_t to = kNowhere;
  double factor = 1;                // Each rank has its own.
  std::uint32_t is_list = 0;        // There is a PartList at `from`.
  std::uint32_t is_staged = 0;      // The first segment's values are on the stage.
  std::uint64_t signature[3] = {};  // All but its last word, which is 0.
};

// `memory`: what others reach of this rank's.
Offer offer_of(const Operation& operation, std::span<const std::byte> memory) noexcept;

// Whether others reach all of a rank's values that they need.
bool is_reached(const Description& call, std::size_t rank, const Offer& offer) noexcept;

// Where an operation's values are.
inline std::byte* buffer_of(const Operation& operation, Buffer buffer) noexcept {
  return operation.buffers[static_cast<std::size_t>(buffer)];
}
inline std::byte* contribution_of(const Operation& operation) noexcept {
  return buffer_of(operation, operation.planned->call.in_place ? Buffer::kValues : Buffer::kInput);
}
inline std::size_t bytes_of(const Operation& operation) noexcept {
  return operation.planned->call.count * operation.planned->reducer.element_bytes();
}

}  // namespace rota::collectives
