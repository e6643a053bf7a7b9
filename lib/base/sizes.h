// Turns numbers of 64 bits, which come from peers and files, into sizes of this machine. Without
// these functions, a number that is too large for a 32-bit machine would lose its upper half.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace rota::base {

// Returns the number, or nothing if this machine cannot count so far.
constexpr std::optional<std::size_t> as_size(std::uint64_t number) noexcept {
  if (number > std::numeric_limits<std::size_t>::max()) return std::nullopt;
  return static_cast<std::size_t>(number);
}

// Returns the smaller of both, which is always a size.
constexpr std::size_t at_most(std::size_t most, std::uint64_t number) noexcept {
  return number < most ? static_cast<std::size_t>(number) : most;
}

}  // namespace rota::base
