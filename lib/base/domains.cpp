// Finds the ranks that share a domain, and sizes their arenas.
#include "base/domains.h"

#include <algorithm>
#include <numeric>

namespace rota::base {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostGiB = 64;
constexpr std::uint64_t kPageBytes = 64 * 1024;  // The largest page of any kernel of interest.

}  // namespace

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

std::size_t arena_bytes(std::uint64_t memory_bytes, std::size_t rank_count, bool is_64_bit) {
  if (!is_64_bit) return static_cast<std::size_t>(kGiB / rank_count / kPageBytes * kPageBytes);
  const std::uint64_t whole = (memory_bytes + kGiB - 1) / kGiB;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(whole, 1, kMostGiB) * kGiB);
}

}  // namespace rota::base
