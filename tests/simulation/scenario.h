// What a seed makes of a world: who is in it, what its ranks do, and what goes wrong.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rota/codec.h>
#include <rota/reduce_op.h>

#include "base/islands.h"
#include "base/time.h"
#include "simulation/random.h"
#include "simulation/shared_memory_model.h"

namespace rota::simulation {

enum class Kind : std::uint8_t {
  kAllReduce,
  kGroup,  // An all-reduce of several buffers.
  kReduce,
  kReduceScatter,
  kAllGather,
  kGather,
  kScatter,
  kAllToAll,
  kBroadcast,
  kBarrier,
  kShift,  // Each rank sends to the next one, and receives from the one before it.
  kRelay,  // The root's values go from rank to rank: each receives them, and sends the same memory.
};
inline constexpr std::size_t kKinds = 12;
std::string_view name_of(Kind kind);

// What one rank does other than its peers expect.
enum class Failure : std::uint8_t {
  kNone,
  kAborts,
  kDies,       // Before some act: a store to what it shares, or a call of its sockets.
  kStops,      // There, and for good: nobody is told.
  kPauses,     // There, for a while that others wait for.
  kLeaves,     // It closes its communicator while others go on.
  kIsLate,     // It comes after the others' deadline.
  kDisagrees,  // It calls with another count; what has none, another collective.
  kStarves,    // Before some act: from then on its host has no memory for what its sockets send.
};
inline constexpr std::size_t kFailures = 9;
std::string_view name_of(Failure failure);

// What the rank that fails shares.
enum class Place : std::uint8_t {
  kAllShareMemory,  // All ranks do.
  kHasMates,        // Some do, and it is one of them.
  kIsAlone,         // Some do, and it is none of them.
  kNoneShares,      // No rank shares memory.
};
inline constexpr std::size_t kPlaces = 4;
std::string_view name_of(Place place);

struct Call {
  Kind kind = Kind::kBarrier;
  std::size_t count = 0;  // Elements: of all values, or of each pair of ranks.
  bool is_integer = false;
  ReduceOp op = ReduceOp::kSum;
  Codec codec = Codec::kIdentity;
  std::size_t root = 0;
  bool in_place = true;
  std::uint32_t on_heap = 0;  // By rank, a bit: its values are where no peer reaches them.
};

struct Scenario {
  explicit Scenario(std::uint64_t chosen);

  std::uint64_t seed;
  base::Islands islands;
  std::string plan = "auto";
  bool has_launcher = true;
  base::Duration deadline{};
  base::Duration lateness{};  // The longest that a store stays unseen,
  Late late = Late::kByLook;  // and which ones do.
  std::uint64_t switch_one_in = 4;
  std::vector<std::vector<Call>> batches;  // Those of one are under way at once.
  bool is_large = false;                   // What a rank gives does not fit onto a stage.

  Failure failure = Failure::kNone;
  std::size_t failing = 0;                // The rank.
  std::optional<std::size_t> second;      // Another one that aborts.
  std::optional<std::size_t> late_comer;  // One that comes to the batch after `pause`.
  std::size_t failing_batch = 0;          // Where it aborts, leaves, is late or disagrees.
  bool is_begun = false;                  // It aborts after it has begun the batch,
  std::size_t looks = 0;  // and has looked at it so often, the other one half as often.
  std::uint64_t act = 0;  // Before this one, counted, it dies, stops and so on.
  base::Duration pause{};

  std::size_t world_size() const { return islands.size(); }
  Place place() const;
  bool is_in_memory() const { return place() == Place::kAllShareMemory; }
  bool fails(std::size_t rank) const { return rank == failing || rank == second; }
  std::string to_text() const;

 private:
  Call draw_call(Random& random, bool is_alone) const;
  void draw_failure(Random& random);
  void draw_taking_back(Random& random);
  void draw_second_to_give_up(Random& random);
  void draw_large(Random& random);
};

}  // namespace rota::simulation
