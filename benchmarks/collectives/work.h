// A piece of work to measure: a collective, the number of its values, and their memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <rota/codec.h>
#include <rota/reduce_op.h>
#include <rota/values.h>

#include "collectives/collective.h"

namespace rota::bench {

enum class Placement : std::uint8_t { kOutOfPlace, kInPlace };

// Shared: memory that the library allocates for its transfers. Any: the memory of a std::vector.
enum class Memory : std::uint8_t { kShared, kAny };

// Warm: every call uses the same buffer, which nothing touches between the calls. Fresh: as in a
// training run, each rank writes all values before the call and reads all results after it. The
// measured time includes the reading.
enum class State : std::uint8_t { kWarm, kFresh };

// Isolated: a barrier comes before each call, so that all ranks begin together. Back to back: calls
// follow each other directly, so that early work of one rank hides late work of another.
enum class Calls : std::uint8_t { kIsolated, kBackToBack };

std::string_view to_string(Placement placement) noexcept;  // "out-of-place", "in-place"
std::string_view to_string(Memory memory) noexcept;        // "shared", "any"
std::string_view to_string(State state) noexcept;          // "warm", "fresh"
std::string_view to_string(Calls calls) noexcept;          // "isolated", "back-to-back"

struct Work {
  Collective collective = Collective::kAllReduce;
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;    // For a collective that reduces.
  Codec codec = Codec::kIdentity;  // For an all-reduce. Only rota has other codecs.
  std::string plan = "auto";       // Only rota has other plans.
  Placement placement = Placement::kInPlace;
  std::size_t total = 0;  // Elements of all parts together.

  std::size_t bytes() const noexcept { return total * bytes_of(type); }
};

// The root of every collective that has one.
inline constexpr std::size_t kRoot = 0;

// The rank to which the root of a ping-pong sends. Other ranks take no part.
inline constexpr std::size_t kPingPongPeer = 1;

// The positions of the values and results of a rank, as elements of its input buffer and of its
// output buffer. In place both are the same buffer.
struct Layout {
  Slice input;
  Slice output;
  friend bool operator==(const Layout&, const Layout&) = default;
};

// If the collective has parts, `work.total` must be a multiple of `ranks`.
Layout layout_of(const Work& work, std::size_t rank, std::size_t ranks) noexcept;

// Returns the largest number of elements that fits into `bytes` and, if there are parts, divides
// equally among all ranks. If none fits, returns one element, or one for each rank if there are
// parts. Returns 0 for a barrier.
std::size_t total_of(Collective collective, DataType type, std::size_t bytes,
                     std::size_t ranks) noexcept;

}  // namespace rota::bench
