// The rank table for programs: one JSON object, the same from --show-ranks and from a status port.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rota/rank_table.h>

namespace rota::launcher {

// By rank, what its CUDA_VISIBLE_DEVICES are, such as "0,GPU-5"; nothing where that is not known.
using KnownDevices = std::vector<std::optional<std::string>>;

// How far a rank has come.
struct RankState {
  enum class Phase { kStarting, kRunning, kEnded };
  Phase phase = Phase::kStarting;
  int exit_code = 0;  // Where it has ended; 128 + n where signal n has ended it.
};

// With source, epoch, world and ranks, a line for each rank: its rank, local_rank, host, address,
// role, cores and devices. What is not known is null, as is an address that is a name still, and
// devices beyond the end of `devices`. Rank 0 is the chief, whether somebody declared one or not;
// a declared chief is rank 0, so that all others are workers. `note`: what of it is taken for
// granted; empty where nothing is, and then left out.
std::string to_json(const RankTable& table, const KnownDevices& devices,
                    const std::string& note = {});

// The same, and of each rank its state and exit_code, which is null before its end.
// Requires a state for each row.
std::string to_json(const RankTable& table, const KnownDevices& devices,
                    std::span<const RankState> states);

}  // namespace rota::launcher
