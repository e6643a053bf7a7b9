// Counts islands.
#include "base/islands.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace rota::base {

std::string transport_between(std::span<const std::uint32_t> islands) {
  if (islands.size() == 1) return "none";
  const std::set<std::uint32_t> numbers(islands.begin(), islands.end());
  if (numbers.size() == 1) return "shm";
  return numbers.size() == islands.size() ? "tcp" : std::string(kMixed);
}

Islands each_alone(std::size_t world_size) {
  Islands islands(world_size);
  std::iota(islands.begin(), islands.end(), std::uint32_t{0});
  return islands;
}

Islands islands_over(std::string_view transport, std::size_t world_size) {
  return transport == "tcp" ? each_alone(world_size) : Islands(world_size, 0);
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

bool shares_memory(std::string_view transport) noexcept {
  return transport == "shm" || transport == kMixed;
}

bool goes_over_tcp(std::string_view transport) noexcept {
  return transport == "tcp" || transport == kMixed;
}

}  // namespace rota::base
