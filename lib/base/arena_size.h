// Sizes the arenas of the ranks of one host. An arena is the memory that a rank shares with its
// peers on the same host.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rota::base {

// The limits of a process that shrink arenas. UINT64_MAX means no limit.
struct ArenaLimits {
  std::uint64_t file_bytes = UINT64_MAX;     // ulimit -f: shared memory counts as a file.
  std::uint64_t address_bytes = UINT64_MAX;  // ulimit -v: each rank maps the arenas of all ranks.
};

// Returns the bytes of one rank's arena without limits: the size of this host's memory in whole
// GiB, up to 64. An arena costs no memory before it is used. If pointers have 32 bits, the arenas
// of all ranks share 1 GiB of addresses.
std::size_t arena_bytes(std::uint64_t memory_bytes, std::size_t rank_count, bool is_64_bit);

// Returns `wanted`, or fewer bytes if a limit allows no more: then whole MiB, and 0 if not even 1
// MiB is left. The arenas of all `rank_count` ranks take half of the addresses at most. The program
// needs the rest.
std::size_t within_limits(std::size_t wanted, std::size_t rank_count, const ArenaLimits& limits);

// Returns the option of ulimit that makes the arenas smaller than `wanted`: "-f" or "-v". Returns
// an empty text if no limit does.
std::string_view shrinking_limit(std::size_t wanted, std::size_t rank_count,
                                 const ArenaLimits& limits);

// Says which limit leaves no room for arenas, and what to do.
std::string lack_of_room(std::size_t rank_count, const ArenaLimits& limits);

}  // namespace rota::base
