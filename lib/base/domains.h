// Says which ranks can access each other's memory: the ranks of one shared-memory domain.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rota::base {

// The index is a rank, and the element is the number of the rank's domain. Ranks with the same
// number share memory.
using Domains = std::vector<std::uint32_t>;

Domains each_alone(std::size_t world_size);

// Returns the ranks of `rank`'s domain in ascending order, including `rank`.
std::vector<std::size_t> domain_of(std::span<const std::uint32_t> domains, std::size_t rank);

// Returns the index of `rank` in `local_peers`.
std::size_t index_in(std::span<const std::size_t> local_peers, std::size_t rank);

}  // namespace rota::base
