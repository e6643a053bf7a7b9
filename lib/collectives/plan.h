// A plan says, for one rank, what to send and receive in a collective, and in which order. It is a
// table: made once by a pure function of rank, world size and count, then run by the Engine,
// proved by the tests, and looked at by people.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <rota/values.h>

namespace rota::collectives {

enum class Collective : std::uint8_t {
  kAllReduce = 1,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kBarrier
};

enum class Algorithm : std::uint8_t {
  kRing = 1,       // All-reduce, reduce-scatter, all-gather.
  kStar,           // All-reduce by way of rank 0: the parameter server, as a baseline.
  kChain,          // Broadcast, chunk after chunk along the ring.
  kDissemination,  // Barrier, in log2(world size) rounds.
};

enum class Verb : std::uint8_t {
  kSend,
  kReceive,  // Overwrites the chunk.
  kReduce,   // Receives and adds to the chunk.
};

struct Step {
  Verb verb = Verb::kSend;
  bool last = false;  // kReduce: the chunk is complete with this one; a mean is scaled here.
  std::uint32_t chunk = 0;
  // May start once lane `after_lane` has finished `after_count` steps; 0 steps = at once.
  std::uint32_t after_lane = 0;
  std::uint32_t after_count = 0;
};

// The steps in one direction to one peer. They run in order; lanes run side by side.
struct Lane {
  std::uint32_t peer = 0;
  bool sends = false;
  std::uint32_t first_step = 0;
  std::uint32_t step_count = 0;
};

struct Plan {
  Collective collective = Collective::kBarrier;
  Algorithm algorithm = Algorithm::kRing;
  std::vector<Slice> chunks;  // In elements.
  std::vector<Lane> lanes;
  std::vector<Step> steps;  // Lane by lane.
};

struct PlanRequest {
  Collective collective = Collective::kAllReduce;
  Algorithm algorithm = Algorithm::kRing;
  std::size_t rank = 0;
  std::size_t world_size = 1;
  std::size_t count = 0;
  std::size_t root = 0;  // kBroadcast.
};

// Requires an algorithm that makes the collective, rank < world_size and root < world_size.
Plan make_plan(const PlanRequest& request);

std::string_view to_string(Collective collective) noexcept;
std::string_view to_string(Algorithm algorithm) noexcept;

// The algorithm of an all-reduce by its name; empty where there is none of that name.
std::optional<Algorithm> all_reduce_algorithm(std::string_view name) noexcept;

}  // namespace rota::collectives
