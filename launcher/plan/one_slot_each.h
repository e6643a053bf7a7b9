// What becomes of a rotarun that another launcher has started as one rank of several, such as
// torchrun, mpirun or srun: it is a host with one slot, whose number is the rank, and it meets the
// others, each of which was started so too, as hosts do.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cluster/reading.h"
#include "cluster/specification.h"
#include "launcher/plan/host_share.h"

namespace rota::launcher {

// `chosen` is of process level, and of more than this rank. They meet at a local name, which needs
// no key, if they are all on this machine and none is named (`has_key`); else where it says; else
// where MASTER_ADDR and MASTER_PORT say; else on loopback, if they are all on this machine; else at
// the first node. Throws SpecificationError where that, or the size of the world, is not known.
cluster::Specification as_hosts(const cluster::Specification& chosen, const cluster::Given& given,
                                bool has_key);

// Whether whoever has started them says so.
bool are_on_one_machine(const cluster::Specification& chosen) noexcept;

// Whether that is where they meet.
bool meet_by_local_name(const cluster::Specification& hosts) noexcept;

// Whether it was made so.
bool is_one_slot_each(const cluster::Specification& hosts) noexcept;

// Where one of them is, as it says itself.
struct OwnPlace {
  std::string machine{};
  std::optional<std::size_t> local_rank{};   // Among the ranks of its machine; empty: not told.
  std::optional<std::size_t> local_count{};  // Of these.
};

// Writes into the shares which of them are on one machine: those of one name. `places` by host.
void seat_on_machines(const std::vector<OwnPlace>& places, std::vector<Share>& shares);

}  // namespace rota::launcher
