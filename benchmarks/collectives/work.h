// What is measured in one row: a collective, of how many values, and where they lie.
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

// Memory that the library gives out for what it moves, or what any std::vector has.
enum class Memory : std::uint8_t { kShared, kAny };

// Warm: the same buffer again and again, which nobody touches between the calls. Fresh: each rank
// writes all of its values before the call and reads all of its results after it, the latter within
// the time that is measured, as a training does.
enum class State : std::uint8_t { kWarm, kFresh };

// Isolated: a barrier before each call, so that all begin at once. Back to back: one call after the
// other, so that what a rank does early hides what another does late.
enum class Calls : std::uint8_t { kIsolated, kBackToBack };

std::string_view to_string(Placement placement) noexcept;  // "out-of-place", "in-place"
std::string_view to_string(Memory memory) noexcept;        // "shared", "any"
std::string_view to_string(State state) noexcept;          // "warm", "fresh"
std::string_view to_string(Calls calls) noexcept;          // "isolated", "back-to-back"

struct Work {
  Collective collective = Collective::kAllReduce;
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;    // Where the collective reduces.
  Codec codec = Codec::kIdentity;  // Of an all-reduce; rota alone has others,
  std::string plan = "auto";       // and others than this.
  Placement placement = Placement::kInPlace;
  std::size_t total = 0;  // Elements: all parts together where the collective has parts.

  std::size_t bytes() const noexcept { return total * bytes_of(type); }
};

// Every tree has its root here.
inline constexpr std::size_t kRoot = 0;

// To whom the root of a ping-pong sends. All others have nothing to do with it.
inline constexpr std::size_t kPingPongPeer = 1;

// Where one rank's values and results are: runs of elements of its input buffer and of its output
// buffer. In place the two are one buffer.
struct Layout {
  Slice input;
  Slice output;
  friend bool operator==(const Layout&, const Layout&) = default;
};

// Requires that `work.total` is a multiple of `ranks` where the collective has parts.
Layout layout_of(const Work& work, std::size_t rank, std::size_t ranks) noexcept;

// The most elements that fit into `bytes` and can be dealt out to all ranks equally; one a rank, or
// one, where nothing fits. 0 for a barrier.
std::size_t total_of(Collective collective, DataType type, std::size_t bytes,
                     std::size_t ranks) noexcept;

}  // namespace rota::bench
