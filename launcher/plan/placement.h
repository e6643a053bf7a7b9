// Decides which CPUs each rank is bound to.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "launcher/command/options.h"

namespace rota::launcher {

// A core that this job may use, with the hardware threads that the job may use.
struct Core {
  std::vector<int> cpus;
  int numa_node = 0;
};

// The CPUs of one rank; empty: all that rotarun may use.
using Cpus = std::vector<int>;

// Returns the binding that follows from the options. Without --bind-to, --map-by core binds to
// cores, and --map-by numa to NUMA nodes.
BindTo binding_of(const Options& options) noexcept;

// Keeps the first cores, until they have `slot_count` hardware threads: a CPU quota grants no more.
std::vector<Core> limit_cores(std::vector<Core> cores, std::size_t slot_count);

// How the ranks of one host are bound.
struct Binding {
  BindTo bind_to = BindTo::kNone;
  MapBy map_by = MapBy::kSlot;                 // kNode and kFixedPerNode act as kSlot here.
  std::optional<std::size_t> cpus_per_rank{};  // Empty: one whole core each.
};

Binding binding_rules(const Options& options) noexcept;

// Deals `rank_count` ranks to `cores`, which must not be empty and must have `cpus_per_rank` CPUs.
// When all places are used, a second round starts. If ranks are bound to NUMA nodes, a rank has all
// CPUs of its nodes. The sets of CPUs are empty if `bind_to` is kNone.
std::vector<Cpus> place_ranks(const std::vector<Core>& cores, std::size_t rank_count,
                              const Binding& binding);

// Returns the CPUs in the form of the rank table: "0-3,8".
std::string to_text(const Cpus& cpus);

}  // namespace rota::launcher
