// What a source says about the cluster: one value, whatever the source.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <rota/rank_table.h>

namespace rota::cluster {

// More ranks, hosts or slots than this are taken for a slip.
inline constexpr std::size_t kMaxRanks = 4096;

// Whom a source speaks to: it has started this process as one rank, or this host as a place for
// several.
enum class Level { kProcess, kHost };

enum class Role { kChief, kWorker, kEvaluator, kParameterServer };

struct Host {
  std::string name{};  // As given, never cut at a dot; empty where only its number is known.
  std::optional<std::uint16_t> port{};
  std::optional<std::size_t> slots{};       // The ranks that it is declared to have.
  std::optional<std::size_t> most_slots{};  // Those that it may have, whatever else is asked for.
  Role role = Role::kWorker;
};

struct Meeting {
  std::string name{};
  std::optional<std::uint16_t> port{};
};

struct Specification {
  std::string source{};  // "TF_CONFIG", "torchrun", …
  Level level = Level::kHost;

  // The chief, then the workers by their ordinals as numbers; after them who is outside of the
  // ring: evaluators, parameter servers. Empty where not even their number is known.
  std::vector<Host> hosts{};
  std::optional<std::size_t> own_host{};  // Its index in `hosts`, or among them where these are
                                          // unknown.

  // Whether only the own host knows its name or its slots, which the source does not have.
  bool is_own_name_private = false;
  bool are_own_slots_private = false;

  // Of this process, where it is a rank.
  std::optional<std::size_t> rank{};
  std::optional<std::size_t> local_rank{};
  std::optional<std::size_t> local_world_size{};

  std::optional<std::size_t> world_size{};  // In ranks.
  std::string world_source{};               // Who gave that, where the source does not.

  // The slots of each host that declares none: one where a list names tasks. Empty: as many as that
  // host finds.
  std::optional<std::size_t> usual_slots{};

  std::optional<Meeting> meeting{};      // Where all find each other: host 0's, rank 0's.
  std::optional<std::uint64_t> epoch{};  // How often the job was started again.
  std::string job_id{};
  bool is_room = false;                // An allocation: what may be used, not what was started.
  bool is_start_list = false;          // Whoever is given it starts what runs on the others.
  std::vector<std::string> remarks{};  // To be said once.
};

// The hosts that are part of the ring: chief and workers.
std::size_t ring_count(const Specification& specification);

bool is_in_ring(Role role) noexcept;

// "chief", "worker", "evaluator", "ps"
std::string_view to_string(Role role) noexcept;

// "a:2222", "[fd00::1]:2222", "a"; "host 3" for the one at index 3 that has no name.
std::string name_of(const Specification& specification, std::size_t index);

// The names of the first few hosts of the ring, and how many more there are.
std::string names_of(const Specification& specification);

// What it says, in half a sentence: "host 1 (b:2222) of 3, meeting at a:2222".
std::string to_text(const Specification& specification);

// Whether it speaks of a rank that is not on this host, or may; or of a host outside of the ring.
bool reaches_beyond_this_host(const Specification& specification);

// How many ranks each host of the ring has. Where slots are not declared they are the same for each
// such host: its share of the declared world, or else the usual ones, or else `undeclared_slots`.
// Throws Error kInvalidArgument where they cannot make the declared world.
std::vector<std::size_t> slots_of(const Specification& specification, std::size_t undeclared_slots);

// Whether some host of the ring alone knows how many slots it has.
bool has_unknown_slots(const Specification& specification);

// Throws Error kInvalidArgument where the slots of the ring cannot make the declared world.
void require_fitting(const Specification& specification);

// A row for each slot, host after host: a rank follows from the ordinals and the declared slots
// alone. Throws Error kInvalidArgument where the hosts are
// unknown, or their slots cannot make the declared world.
RankTable make_table(const Specification& specification, std::size_t undeclared_slots);

}  // namespace rota::cluster
