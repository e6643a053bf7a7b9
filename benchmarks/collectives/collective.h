// The collectives that the benchmarks measure, with their names and the factors of nccl-tests.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace rota::bench {

enum class Collective : std::uint8_t {
  kAllReduce,
  kReduce,
  kReduceScatter,
  kAllGather,
  kGather,
  kScatter,
  kAllToAll,
  kBroadcast,
  kPingPong,  // Rank 0 sends to rank 1, and rank 1 sends the values back.
  kBarrier,
};

// Returns all collectives, in the order above.
std::span<const Collective> all_collectives() noexcept;

// These two functions convert between a collective and its name, such as "reduce-scatter".
std::string_view to_string(Collective collective) noexcept;
std::optional<Collective> collective_named(std::string_view name) noexcept;

// Returns whether the collective reduces, and so has an operation.
bool reduces(Collective collective) noexcept;

// Returns whether the values consist of equally long parts, one for (or from) every rank.
bool has_parts(Collective collective) noexcept;

// Returns whether the collective has a root: a rank that gives the values, gets the results, or
// begins the ping-pong.
bool has_root(Collective collective) noexcept;

// Returns a factor. The bus bandwidth is the algorithm bandwidth (bytes divided by time) times this
// factor. The factor is the number of bytes that the busiest link must carry for each byte of the
// values, whatever the algorithm. So bus bandwidth can be compared with the link's speed.
double bus_factor(Collective collective, std::size_t ranks) noexcept;

}  // namespace rota::bench
