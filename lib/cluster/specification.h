// Says what a source knows about the cluster, in one form for all sources.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <rota/rank_table.h>

#include "base/world_size.h"

namespace rota::cluster {

// The most ranks, hosts or slots.
inline constexpr std::size_t kMaxRanks = base::kMaxWorldSize;

// The source that says which task of a Slurm step this process is.
inline constexpr const char* kSlurmStep = "Slurm step";

// What the source has started: this process as one rank, or this host, on which several ranks may
// run.
enum class Level { kProcess, kHost };

enum class Role { kChief, kWorker, kEvaluator, kParameterServer };

struct Host {
  std::string name{};  // As given, never cut at a dot; empty if only its index is known.
  std::optional<std::uint16_t> port{};
  std::optional<std::size_t> slots{};       // The declared number of ranks.
  std::optional<std::size_t> most_slots{};  // The upper limit of ranks, even with --oversubscribe.
  Role role = Role::kWorker;
};

struct RendezvousEndpoint {
  std::string name{};
  std::optional<std::uint16_t> port{};
};

struct Specification {
  std::string source{};  // "TF_CONFIG", "torchrun", …
  Level level = Level::kHost;

  // The chief, then the workers in the order of their ordinals as numbers. Hosts without ranks
  // follow: evaluators, parameter servers. Empty if not even the number of hosts is known.
  std::vector<Host> hosts{};
  std::optional<std::size_t> own_host{};  // This host's index, even if `hosts` is empty.

  // True if only this host knows its own name, or its own slots: the source lacks them.
  bool is_own_name_private = false;
  bool are_own_slots_private = false;

  // For this process, if it is a rank.
  std::optional<std::size_t> rank{};
  std::optional<std::size_t> local_rank{};
  std::optional<std::size_t> local_world_size{};

  std::optional<std::size_t> world_size{};  // In ranks.
  std::string world_source{};               // Who gave `world_size`, if not the source.

  // The slots of each host that declares none: ROTA_SLOTS or this host's number of devices, if
  // declared; otherwise 1 if hosts are tasks, as in TF_CONFIG. If this is empty, each such host
  // decides by its own CPUs.
  std::optional<std::size_t> usual_slots{};

  std::optional<RendezvousEndpoint> rendezvous{};  // Where host 0 or rank 0 listens.
  std::optional<std::uint64_t> epoch{};            // How often the job was restarted.
  std::string job_id{};
  bool is_room = false;                // An allocation: hosts that may be used; none is started.
  bool has_srun = false;               // An allocation where srun starts programs.
  bool is_start_list = false;          // The rotarun that gets the list starts the other hosts.
  std::vector<std::string> remarks{};  // Notes for the user, to be printed once.
};

// Returns the number of hosts in the ring: those with ranks, the chief and the workers.
std::size_t ring_count(const Specification& specification);

bool is_in_ring(Role role) noexcept;

// Returns "chief", "worker", "evaluator" or "ps".
std::string_view to_string(Role role) noexcept;

// Returns "a:2222", "[fd00::1]:2222" or "a"; "host 3" for a host at index 3 without a name.
std::string name_of(const Specification& specification, std::size_t index);

// Returns the names of the first few hosts of the ring, and how many more hosts there are.
std::string names_of(const Specification& specification);

// Returns the specification as part of a sentence: "host 1 (b:2222) of 3, rendezvous at a:2222".
std::string to_text(const Specification& specification);

// Returns whether the job has, or may have, a rank that is not on this host, or a host without
// ranks.
bool reaches_beyond_this_host(const Specification& specification);

// Returns the number of ranks of each host in the ring. Hosts without declared slots all have the
// same number. With a declared world, they share equally the ranks that the declared slots leave
// over. Without one, the number is `usual_slots`, or `undeclared_slots` if `usual_slots` is empty.
// Throws Error kInvalidArgument if the slots cannot add up to the declared world.
std::vector<std::size_t> slots_of(const Specification& specification, std::size_t undeclared_slots);

// Returns whether some host of the ring is the only one that knows its number of slots.
bool has_unknown_slots(const Specification& specification);

// Throws Error kInvalidArgument if the slots of the ring cannot add up to the declared world.
void require_fitting(const Specification& specification);

// Makes a table with one row for each slot, host after host. A rank depends only on the ordinals
// and on the declared slots. Throws Error kInvalidArgument if the hosts are unknown, or if their
// slots cannot add up to the declared world.
RankTable make_table(const Specification& specification, std::size_t undeclared_slots);

}  // namespace rota::cluster
