// Finds the ranks that share a domain.
#include "base/domains.h"

#include <algorithm>
#include <numeric>

namespace rota::base {

Domains each_alone(std::size_t world_size) {
  Domains domains(world_size);
  std::iota(domains.begin(), domains.end(), std::uint32_t{0});
  return domains;
}

std::vector<std::size_t> domain_of(std::span<const std::uint32_t> domains, std::size_t rank) {
  std::vector<std::size_t> ranks;
  for (std::size_t other = 0; other < domains.size(); ++other) {
    if (domains[other] == domains[rank]) ranks.push_back(other);
  }
  return ranks;
}

std::size_t index_in(std::span<const std::size_t> local_peers, std::size_t rank) {
  return static_cast<std::size_t>(std::ranges::find(local_peers, rank) - local_peers.begin());
}

}  // namespace rota::base
