// A nested launch: another launcher, such as torchrun, mpirun or srun, has started rotarun as one
// rank of several. Each such rotarun is a host with one slot, and its host index is the rank. The
// rotaruns find each other by the rendezvous, as hosts do.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cluster/reading.h"
#include "cluster/specification.h"
#include "launcher/plan/host_assignment.h"

namespace rota::launcher {

// Returns the ranks of `chosen` as hosts with one slot. `chosen` has Level::kProcess, and has other
// ranks than this one. The rendezvous is the one of cluster/meeting_point.h. `has_key`: the user
// names a key.
// Throws SpecificationError if none is possible, or if the size of the world is not known.
cluster::Specification as_hosts(const cluster::Specification& chosen, const cluster::Given& given,
                                bool has_key);

// Returns whether the rendezvous is at a local name.
bool meet_by_local_name(const cluster::Specification& hosts) noexcept;

// Returns whether `hosts` comes from as_hosts().
bool is_nested_launch(const cluster::Specification& hosts) noexcept;

// The place of one host of a nested launch, as that host reports it.
struct OwnPlace {
  std::string machine{};
  std::optional<std::size_t> local_rank{};   // Among the ranks of its machine; empty: not known.
  std::optional<std::size_t> local_count{};  // Ranks of its machine; empty: not known.
};

// Writes into the assignments which hosts are on the same machine: hosts with the same machine
// name. `places` and `assignments` are indexed by host.
void place_on_machines(const std::vector<OwnPlace>& places,
                       std::vector<HostAssignment>& assignments);

}  // namespace rota::launcher
