// Reads the rank that a launcher such as torchrun or mpirun gives to a process. Each launcher has
// its own variable names.
#pragma once
#include <string>
#include <string_view>

#include "cluster/environment.h"
#include "cluster/specification.h"

namespace rota::cluster {

inline constexpr Range kAnyRank{.least = 0, .most = kMaxRanks - 1};
inline constexpr Range kAnyRankCount{.least = 1, .most = kMaxRanks};

// The names of the variables. The local names may be empty, and their variables may be unset.
struct RankNames {
  std::string_view rank;
  std::string_view world_size;
  std::string_view local_rank{};
  std::string_view local_world_size{};
};

// Reads a rank from the variables in `names`. Throws Error kInvalidArgument if rank or world size
// is not set, or if a value is not a number in its range. Also throws this error if a rank is not
// below the size of its world, or if a host has more ranks than the world.
Specification read_rank(const std::string& source, const Environment& environment,
                        const RankNames& names);

// Returns the value of a variable for a port, such as MASTER_PORT; empty if it is not set. For a
// Service named master, Kubernetes sets MASTER_PORT=tcp://…, which counts as not set.
std::string port_text(const Environment& environment, std::string_view name);

// Reads MASTER_ADDR and MASTER_PORT, or similar variables. Returns nothing if `name` is not set.
std::optional<RendezvousEndpoint> read_rendezvous(const Environment& environment,
                                                  std::string_view name, std::string_view port);

// Returns a sign that a launcher has started this process as one of several, such as "WORLD_SIZE is
// 4"; empty if there is none. The sign matters when no source says where the other processes are:
// without the sign, each process would train alone, unnoticed. Slurm's variables count only inside
// a step, because a shell or a batch script in an allocation is not a rank. Variables that count
// hosts do not count if ROTA_HOSTS is 1. Throws Error kInvalidArgument if a value makes no sense.
std::string sign_of_several(const Environment& environment);

}  // namespace rota::cluster
