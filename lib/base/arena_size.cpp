// Sizes arenas by the memory of the host and the limits of a process.
#include "base/arena_size.h"

#include <algorithm>

namespace rota::base {
namespace {

constexpr std::uint64_t kBytesInGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostGiB = 64;
constexpr std::uint64_t kLargestPage = 64 * 1024;  // Of any kernel of interest.

// A smaller arena could not hold a rank's mailboxes.
constexpr std::uint64_t kLeastArena = std::uint64_t{1} << 20;

// Returns the addresses that are left for one arena.
std::uint64_t addresses_for_one(std::size_t rank_count, const ArenaLimits& limits) {
  return limits.address_bytes / 2 / rank_count;
}

}  // namespace

std::size_t arena_bytes(std::uint64_t memory_bytes, std::size_t rank_count, bool is_64_bit) {
  if (!is_64_bit) {
    return static_cast<std::size_t>(kBytesInGiB / rank_count / kLargestPage * kLargestPage);
  }
  const std::uint64_t whole = (memory_bytes + kBytesInGiB - 1) / kBytesInGiB;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(whole, 1, kMostGiB) * kBytesInGiB);
}

std::size_t within_limits(std::size_t wanted, std::size_t rank_count, const ArenaLimits& limits) {
  const std::uint64_t allowed = std::min(limits.file_bytes, addresses_for_one(rank_count, limits));
  if (allowed >= wanted) return wanted;
  return static_cast<std::size_t>(allowed / kLeastArena * kLeastArena);
}

std::string_view shrinking_limit(std::size_t wanted, std::size_t rank_count,
                                 const ArenaLimits& limits) {
  const std::uint64_t addresses = addresses_for_one(rank_count, limits);
  if (std::min(limits.file_bytes, addresses) >= wanted) return {};
  return limits.file_bytes < addresses ? "-f" : "-v";
}

std::string lack_of_room(std::size_t rank_count, const ArenaLimits& limits) {
  if (shrinking_limit(kLeastArena, rank_count, limits) == "-f") {
    return "memory that ranks share counts as a file, and the limit of " +
           std::to_string(limits.file_bytes) +
           " bytes (ulimit -f) leaves no room for it: raise the limit";
  }
  return "a rank maps the memory that all " + std::to_string(rank_count) +
         " ranks here share, and the limit of " + std::to_string(limits.address_bytes) +
         " bytes of addresses (ulimit -v) leaves no room for it: raise the limit";
}

}  // namespace rota::base
