// Writes the rank table as one JSON object, for programs: for --show-ranks, and for a status port,
// which adds the states of the ranks.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rota/rank_table.h>

namespace rota::launcher {

// By rank: its CUDA_VISIBLE_DEVICES, such as "0,GPU-5"; empty if not known.
using KnownDevices = std::vector<std::optional<std::string>>;

// The state of a rank in its run.
struct RankState {
  enum class Phase { kStarting, kRunning, kEnded };
  Phase phase = Phase::kStarting;
  int exit_code = 0;  // Valid once the rank has ended; 128 + n after signal n.
};

// Returns an object with source, epoch, world and ranks. Each rank has a line with its rank,
// local_rank, host, address, role, cores and devices. A value that is not known is null. An address
// that is still a name is null too, and so are devices beyond the end of `devices`. Rank 0 is the
// chief, whether one is declared or not. A declared chief is rank 0, so all others are workers.
// `note` says what the table assumes; an empty note is left out.
std::string to_json(const RankTable& table, const KnownDevices& devices,
                    const std::string& note = {});

// Returns the same object, in which each rank also has its state and its exit_code. The exit_code
// is null before the rank ends. Requires a state for each row.
std::string to_json(const RankTable& table, const KnownDevices& devices,
                    std::span<const RankState> states);

}  // namespace rota::launcher
