// Which CPUs a rank is bound to.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "launcher/command/options.h"

namespace rota::launcher {

// A core that this job may use, and those of its hardware threads that it may use.
struct Core {
  std::vector<int> cpus;
  int numa_node = 0;
};

// Where one rank runs; empty: anywhere that rotarun may.
using Cpus = std::vector<int>;

// What binding follows from the options: --map-by core or numa alone binds to the same.
BindTo binding_of(const Options& options) noexcept;

// Keeps the first cores, with `slot_count` hardware threads altogether: a CPU quota grants no more.
std::vector<Core> limit_cores(std::vector<Core> cores, std::size_t slot_count);

// How the ranks of one host are bound.
struct Binding {
  BindTo bind_to = BindTo::kNone;
  MapBy map_by = MapBy::kSlot;                 // What deals to hosts is kSlot here.
  std::optional<std::size_t> cpus_per_rank{};  // Empty: a core each, whatever it has.
};

Binding binding_rules(const Options& options) noexcept;

// Deals `rank_count` ranks to `cores`, which must not be empty and have `cpus_per_rank` CPUs; a
// second round starts when the places are used up. Bound to NUMA nodes, a rank has all the CPUs of
// the nodes that it is dealt. Empty sets when `bind_to` is kNone.
std::vector<Cpus> place_ranks(const std::vector<Core>& cores, std::size_t rank_count,
                              const Binding& binding);

// "0-3,8": as the rank table shows it.
std::string to_text(const Cpus& cpus);

}  // namespace rota::launcher
