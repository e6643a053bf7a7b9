// What launchers of processes have in common: each tells a process its rank under names of its own.
#pragma once
#include <string>
#include <string_view>

#include "cluster/environment.h"
#include "cluster/specification.h"

namespace rota::cluster {

inline constexpr Range kAnyRank{.least = 0, .most = kMaxRanks - 1};
inline constexpr Range kAnyRankCount{.least = 1, .most = kMaxRanks};

// The names of the variables; those of the local ones may be empty or unset.
struct RankNames {
  std::string_view rank;
  std::string_view world_size;
  std::string_view local_rank{};
  std::string_view local_world_size{};
};

// Throws Error kInvalidArgument where one of the first two is not set, a number is none, or a rank
// is not below its world's size.
Specification read_rank(const std::string& source, const Environment& environment,
                        const RankNames& names);

// MASTER_ADDR and MASTER_PORT, or the like. Empty where `name` is not set.
std::optional<Meeting> read_meeting(const Environment& environment, std::string_view name,
                                    std::string_view port);

// A sign that somebody has started this process as one of several, such as "WORLD_SIZE is 4"; empty
// where there is none. It matters where nothing says where the others are: a program that went on
// alone would train beside them, and nobody would notice. Of Slurm's variables those of a step
// count: a shell or a batch script in an allocation is no rank. Throws Error kInvalidArgument where
// a number is none.
std::string sign_of_several(const Environment& environment);

}  // namespace rota::cluster
