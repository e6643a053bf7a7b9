// What a seed decides about a world: its ranks, what they do, and what goes wrong.
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

#include "base/domains.h"
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
  kShift,  // Each rank sends to the next rank, and receives from the rank before it.
  kRelay,  // The root's values go from rank to rank: each receives them, and sends the same memory.
};
inline constexpr std::size_t kKinds = 12;
std::string_view name_of(Kind kind);

// How one rank acts against its peers' expectation.
enum class Failure : std::uint8_t {
  kNone,
  kAborts,
  kDies,       // It dies before some act: a store to shared memory, or a socket call.
  kStops,      // Before some act it stops for good, and no rank gets a message.
  kPauses,     // Before some act it stops for a while; other ranks wait for it.
  kLeaves,     // It closes its communicator while other ranks go on.
  kIsLate,     // It comes after the others' deadline.
  kDisagrees,  // It calls with another count, or another collective if there is no count.
  kStarves,    // From some act on, its host has no memory for its sends.
  kFaults,     // Before some act, its device fails: once, or from then on.
};
inline constexpr std::size_t kFailures = 10;
std::string_view name_of(Failure failure);

// How the rank that fails shares memory.
enum class Place : std::uint8_t {
  kAllShareMemory,  // All ranks share memory.
  kHasPeers,        // Some ranks share memory, and it is one of them.
  kIsAlone,         // Some ranks share memory, but it does not.
  kNoneShares,      // No rank shares memory.
};
inline constexpr std::size_t kPlaces = 4;
std::string_view name_of(Place place);

struct Call {
  Kind kind = Kind::kBarrier;
  // Number of elements: of all values or, in a gather, a scatter or an all-to-all, for each pair of
  // ranks.
  std::size_t count = 0;
  bool is_integer = false;
  ReduceOp op = ReduceOp::kSum;
  Codec codec = Codec::kIdentity;
  std::size_t root = 0;
  bool in_place = true;
  std::uint32_t on_heap = 0;  // A bit for each rank: its values are in private memory.
};

struct Scenario {
  explicit Scenario(std::uint64_t chosen);

  std::uint64_t seed;
  base::Domains domains;
  std::string plan = "auto";
  bool has_launcher = true;
  bool is_over_mpi = false;  // MPI carries all messages, and may make the collectives.
  base::Duration deadline{};
  base::Duration lateness{};  // The longest time that a store stays unseen.
  Late late = Late::kByLook;  // Which stores stay unseen.
  std::uint64_t switch_one_in = 4;
  std::vector<std::vector<Call>> batches;  // All calls of a batch run together.
  bool is_large = false;                   // A rank's values do not fit into a staging buffer.
  std::uint32_t on_device = 0;             // A bit for each rank: its values are on a device.

  Failure failure = Failure::kNone;
  std::size_t failing = 0;                // The rank that fails.
  std::optional<std::size_t> second;      // Another rank that aborts.
  std::optional<std::size_t> late_comer;  // A rank that comes `pause` late.
  std::size_t failing_batch = 0;          // Where `failing` aborts, leaves, is late or disagrees.
  bool is_begun = false;                  // `failing` aborts after it has begun the batch.
  std::size_t looks = 0;  // Tests of requests before the abort; rank `second` makes half as many.
  std::uint64_t act = 0;  // The number of the act before which the rank dies, stops and so on.
  base::Duration pause{};
  bool fault_stays = false;  // kFaults: each later call of the device fails, too.

  bool is_on_device(std::size_t rank) const { return (on_device >> rank & 1) != 0; }
  std::size_t world_size() const { return domains.size(); }
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
  void draw_mpi(Random& random);
  void draw_devices(Random& random);
};

}  // namespace rota::simulation
