// Looks through the islands of ranks.
#include "base/islands.h"

#include <algorithm>
#include <numeric>

namespace rota::base {

Islands each_alone(std::size_t world_size) {
  Islands islands(world_size);
  std::iota(islands.begin(), islands.end(), std::uint32_t{0});
  return islands;
}

std::vector<std::size_t> island_of(std::span<const std::uint32_t> islands, std::size_t rank) {
  std::vector<std::size_t> ranks;
  for (std::size_t other = 0; other < islands.size(); ++other) {
    if (islands[other] == islands[rank]) ranks.push_back(other);
  }
  return ranks;
}

std::size_t place_among(std::span<const std::size_t> mates, std::size_t rank) {
  return static_cast<std::size_t>(std::ranges::find(mates, rank) - mates.begin());
}

}  // namespace rota::base
