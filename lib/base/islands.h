// Which ranks reach each other's memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rota::base {

// Index = rank. Ranks of one number share memory.
using Islands = std::vector<std::uint32_t>;

Islands each_alone(std::size_t world_size);

// The ranks of `rank`'s island in order, itself among them.
std::vector<std::size_t> island_of(std::span<const std::uint32_t> islands, std::size_t rank);

// Where a rank is among the ranks of its island.
std::size_t place_among(std::span<const std::size_t> mates, std::size_t rank);

}  // namespace rota::base
