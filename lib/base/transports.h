// What a rank table calls a transport, and what the name stands for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/islands.h"

namespace rota::base {

// How ranks reach each other.
enum class Ways : std::uint8_t {
  kNone,    // There is one rank; or the transport is not known.
  kMemory,  // All share memory.
  kTcp,     // No two do.
  kBoth,    // Those of an island do, and TCP is between islands.
};

std::string_view transport_name(Ways ways) noexcept;
Ways ways_of(std::string_view transport) noexcept;

std::string transport_between(std::span<const std::uint32_t> islands);

// The other way round, for all but Ways::kBoth.
Islands islands_over(std::string_view transport, std::size_t world_size);

bool shares_memory(std::string_view transport) noexcept;  // Some ranks do,
bool listens(std::string_view transport) noexcept;        // and some call each other.

}  // namespace rota::base
