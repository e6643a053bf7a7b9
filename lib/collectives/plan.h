// A plan says, for one rank, what to send, receive and add in a collective, and in which order. It
// is a table: made once by a pure function of rank, world and counts, then run by PlanRun,
// proved by the tests, and looked at by people.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <rota/values.h>

#include "collectives/description.h"

namespace rota::collectives {

// A rank's memory in a collective.
enum class Buffer : std::uint8_t {
  kValues,    // What the caller gave to be changed.
  kInput,     // What the caller gave to be read; never written.
  kScratch,   // The plan's own, of Plan::scratch_count elements.
  kFeedback,  // As many as the values: what earlier encodings lost; then, what these did.
  kCoded,     // What a codec has made of Plan::coded_count elements, from multiples of its grain.
};
inline constexpr std::size_t kBufferCount = 5;

// A run of elements of one of the buffers.
struct Place {
  Buffer buffer = Buffer::kValues;
  Slice slice;
  friend bool operator==(const Place&, const Place&) = default;
};
constexpr Place coded_at(Slice slice) noexcept { return {Buffer::kCoded, slice}; }

enum class Verb : std::uint8_t {
  kSend,
  kReceive,    // Overwrites the place.
  kReduce,     // Receives, and adds to the place.
  kCopy,       // Local: from `from`, which overwrites the place.
  kAdd,        // Local: from `from`, which is added to the place.
  kPreScale,   // Local: multiplies the place by the reduction's factor.
  kEncode,     // Local: `from`, into a place of kCoded; what is lost goes into the feedback.
  kDecode,     // Local: from kCoded, which overwrites the place.
  kDecodeAdd,  // Local: from kCoded, which is added to the place.
};

struct Step {
  Verb verb = Verb::kSend;
  // kReduce, kAdd, kDecodeAdd: nothing more is added here; a mean is scaled now. kEncode: it was.
  bool last = false;
  Place at{};
  Place from{};                   // Of those that have one.
  std::uint32_t first_after = 0;  // May start once all of these rows of Plan::afters hold.
  std::uint32_t after_count = 0;
};

// "Once lane `lane` has finished `count` steps."
struct After {
  std::uint32_t lane = 0;
  std::uint32_t count = 0;
};

// The steps in one direction to one peer, or those without one. They run in order; lanes run side
// by side.
struct Lane {
  enum class Kind : std::uint8_t { kSends, kReceives, kLocal };
  Kind kind = Kind::kLocal;
  std::uint32_t peer = 0;  // kLocal: the rank itself.
  std::uint32_t first_step = 0;
  std::uint32_t step_count = 0;
};

struct Plan {
  std::vector<Lane> lanes;
  std::vector<Step> steps;  // Lane by lane.
  std::vector<After> afters;
  std::size_t scratch_count = 0;  // Elements.
  std::size_t coded_count = 0;    // Elements.
};

// A call on one rank of a world, as plans depend on it.
struct PlanRequest : Description {
  std::size_t rank = 0;
  std::size_t world_size = 1;
  std::size_t element_bytes = sizeof(float);
  bool pre_scales = false;  // Each rank's contribution is multiplied first.
  // Elements of each rank's part, index = rank; empty: those of slice_of. kAllToAll: of the part
  // that goes to each rank; lent.
  std::span<const std::size_t> counts{};
  std::span<const std::size_t> receive_counts{};  // kAllToAll: of the part that each rank sends.
  std::span<const std::size_t> hosts{};           // By host: index = rank, equal where the host is.
};

// Requires an algorithm that has plans and makes the collective, rank < world_size and root <
// world_size.
Plan make_plan(const PlanRequest& request);

// Whether `algorithm` makes `collective`.
bool makes(Algorithm algorithm, Collective collective) noexcept;

// Whether it makes plans; what has none is no way over a network.
bool has_plans(Algorithm algorithm) noexcept;

// Whether its plans depend on which ranks share a host.
constexpr bool looks_at_hosts(Algorithm algorithm) noexcept {
  return algorithm == Algorithm::kTwoLevel || algorithm == Algorithm::kByHost;
}

// The part of `rank`, of `count` elements: by counts where there are some, else slice_of.
Slice part_of(std::span<const std::size_t> counts, std::size_t count, std::size_t rank,
              std::size_t world_size) noexcept;
inline Slice part_of(const PlanRequest& request, std::size_t rank) noexcept {
  return part_of(request.counts, request.count, rank, request.world_size);
}

std::string_view to_string(Algorithm algorithm) noexcept;

// By its name; empty where there is none of that name.
std::optional<Algorithm> algorithm_named(std::string_view name) noexcept;

}  // namespace rota::collectives
