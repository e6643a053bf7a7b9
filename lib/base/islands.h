// Which ranks reach each other's memory, and what the ways between ranks are called accordingly.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rota::base {

// Index = rank. Ranks of one number share memory.
using Islands = std::vector<std::uint32_t>;

// How ranks reach each other.
enum class Ways : std::uint8_t {
  kNone,    // There is one rank; or the transport is not known.
  kMemory,  // All share memory.
  kTcp,     // No two do.
  kBoth,    // Those of an island do, and TCP is between islands.
};

// A transport as a rank table calls it, and what the name stands for.
std::string_view transport_name(Ways ways) noexcept;
Ways ways_of(std::string_view transport) noexcept;

std::string transport_between(std::span<const std::uint32_t> islands);

// The other way round, for all but Ways::kBoth.
Islands islands_over(std::string_view transport, std::size_t world_size);
Islands each_alone(std::size_t world_size);

// The ranks of `rank`'s island in order, itself among them.
std::vector<std::size_t> island_of(std::span<const std::uint32_t> islands, std::size_t rank);

// Where a rank is among the ranks of its island.
std::size_t place_among(std::span<const std::size_t> mates, std::size_t rank);

bool shares_memory(std::string_view transport) noexcept;  // Some ranks do,
bool listens(std::string_view transport) noexcept;        // and some call each other.

}  // namespace rota::base
