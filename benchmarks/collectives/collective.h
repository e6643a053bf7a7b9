// The collectives that are measured: their names, and nccl-tests' factors.
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
  kPingPong,  // Rank 0 sends to rank 1, which sends back what it got.
  kBarrier,
};

// All of them, in the order above.
std::span<const Collective> all_collectives() noexcept;

// "all-reduce", "reduce-scatter", …
std::string_view to_string(Collective collective) noexcept;
std::optional<Collective> collective_named(std::string_view name) noexcept;

// Whether it has an operation.
bool reduces(Collective collective) noexcept;

// Whether each rank's values consist of a part for, or of, every rank. Parts are equally long.
bool has_parts(Collective collective) noexcept;

// Whether one rank has a part of its own: whose values go out, to whom results come, who serves.
bool has_root(Collective collective) noexcept;

// Bus bandwidth is algorithm bandwidth times this: what the busiest link has to carry for each byte
// of the values, whatever the algorithm, so that it can be held against the link's speed.
double bus_factor(Collective collective, std::size_t ranks) noexcept;

}  // namespace rota::bench
