// A plan: the sends, receives and additions of one rank in a collective, and their order. A plan is
// a table. A pure function of rank, world and counts makes it once. PlanRun runs it, the tests
// verify it, and people can read it.
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

// The kinds of a rank's memory in a collective.
enum class Buffer : std::uint8_t {
  kValues,    // The caller's values, which the collective changes.
  kInput,     // The caller's input; never written.
  kScratch,   // Temporary memory of Plan::scratch_count elements.
  kFeedback,  // As large as the values. Before: earlier encoding losses; after: the new losses.
  kCoded,     // Encoded form of Plan::coded_count elements; places begin at multiples of the grain.
  kStaging,   // Segments of host memory for messages, Plan::staging_count elements together.
};
inline constexpr std::size_t kBufferCount = 6;

// Contiguous elements of one of the buffers.
struct Place {
  Buffer buffer = Buffer::kValues;
  Slice slice;
  friend bool operator==(const Place&, const Place&) = default;
};
constexpr Place coded_at(Slice slice) noexcept { return {Buffer::kCoded, slice}; }

enum class Verb : std::uint8_t {
  kSend,
  kReceive,    // Overwrites the place.
  kReduce,     // Receives and adds to the place.
  kCopy,       // Local: copies `from` to the place.
  kAdd,        // Local: adds `from` to the place.
  kPreScale,   // Local: multiplies the place by the reduction's factor.
  kEncode,     // Local: encodes `from` into a place of kCoded; the loss goes into the feedback.
  kDecode,     // Local: decodes from kCoded into the place.
  kDecodeAdd,  // Local: decodes from kCoded, and adds to the place.
};

struct Step {
  Verb verb = Verb::kSend;
  // kReduce, kAdd, kDecodeAdd: this is the last addition to these elements. If the operation is
  // kMean, this addition also scales the sum to the mean.
  // kEncode: the last addition has been done.
  bool last = false;
  Place at{};
  Place from{};                   // For verbs with a source.
  std::uint32_t first_after = 0;  // The step may start once these conditions of Plan::afters hold.
  std::uint32_t after_count = 0;
};

// A condition: lane `lane` has finished `count` steps.
struct After {
  std::uint32_t lane = 0;
  std::uint32_t count = 0;
};

// A lane: the steps in one direction between this rank and one peer, or local steps. The steps of a
// lane run in order; lanes run concurrently. The last two kinds are for plans that stage: their
// steps copy messages for a peer into segments, or take messages of a peer out of segments.
struct Lane {
  enum class Kind : std::uint8_t { kSends, kReceives, kLocal, kFillsSegments, kEmptiesSegments };
  Kind kind = Kind::kLocal;
  std::uint32_t peer = 0;  // kLocal: the rank itself.
  std::uint32_t first_step = 0;
  std::uint32_t step_count = 0;
};

constexpr bool is_local(Lane::Kind kind) noexcept {
  return kind != Lane::Kind::kSends && kind != Lane::Kind::kReceives;
}

// The message of a send or a receive in a plan that stages. A message has a step for each segment,
// and the channel carries it as one message: the peer need not stage.
struct Part {
  std::uint32_t message = 0;  // Index of the message in its lane.
  bool begins = true;         // This step is the first of the message.
  bool ends = true;           // This step is the last of the message.
  std::size_t count = 0;      // Elements of the whole message.
};

struct Plan {
  std::vector<Lane> lanes;
  std::vector<Step> steps;  // Lane by lane.
  std::vector<Part> parts;  // Index = step. Empty if the plan does not stage.
  std::vector<After> afters;
  std::size_t scratch_count = 0;  // Elements.
  std::size_t coded_count = 0;    // Elements.
  std::size_t staging_count = 0;  // Elements.
};

// A call on one rank of a world: all that its plan depends on.
struct PlanRequest : Description {
  std::size_t rank = 0;
  std::size_t world_size = 1;
  std::size_t element_bytes = sizeof(float);
  bool pre_scales = false;  // This rank's contribution is multiplied first.
  // The number of elements in each rank's part; index = rank. If empty, slice_of() cuts the parts.
  // For kAllToAll: the number of elements that this rank sends to each rank. The memory is
  // borrowed.
  std::span<const std::size_t> counts{};
  std::span<const std::size_t> receive_counts{};  // kAllToAll: elements from each rank.
  std::span<const std::size_t> hosts{};  // Index = rank; ranks of a host have the same number.
  // The number of elements in a segment, through which messages go because the channels cannot
  // access the values. 0: messages come from the values themselves.
  std::size_t segment_count = 0;
};

// Makes the plan of a call. Requires an algorithm that has plans and can run the collective, rank <
// world_size and root < world_size. Throws Error kNoMemory if this machine has no addresses for the
// scratch memory of the plan.
Plan make_plan(const PlanRequest& request);

// Returns whether `algorithm` can run `collective`.
bool makes(Algorithm algorithm, Collective collective) noexcept;

// Returns whether the algorithm makes plans. An algorithm without plans cannot run over a network.
bool has_plans(Algorithm algorithm) noexcept;

// Returns whether another library's collectives run the algorithm. Only a user may choose it: the
// bits are that library's. A user who chooses it means all collectives that the library can run.
constexpr bool is_of_library(Algorithm algorithm) noexcept {
  return algorithm == Algorithm::kMpi || algorithm == Algorithm::kNccl;
}

// Returns whether the plans of the algorithm depend on which ranks share a host.
constexpr bool looks_at_hosts(Algorithm algorithm) noexcept {
  return algorithm == Algorithm::kTwoLevel || algorithm == Algorithm::kByHost;
}

// Returns the part of `rank` in `count` elements. `counts` has the size of each part. If `counts`
// is empty, slice_of() cuts the parts.
Slice part_of(std::span<const std::size_t> counts, std::size_t count, std::size_t rank,
              std::size_t world_size) noexcept;
inline Slice part_of(const PlanRequest& request, std::size_t rank) noexcept {
  return part_of(request.counts, request.count, rank, request.world_size);
}

std::string_view to_string(Algorithm algorithm) noexcept;

// Returns the algorithm with this name, or nothing if no algorithm has this name.
std::optional<Algorithm> algorithm_named(std::string_view name) noexcept;

}  // namespace rota::collectives
