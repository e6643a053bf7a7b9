// Decides the job scope: whether this host runs a job alone, or with other hosts.
//
// If other hosts are declared, no host runs a job alone: that job would succeed, but would train
// another model. --np alone gives the number of ranks, not their hosts, so it does not change the
// scope. --this-host does change the scope: the sources are then not asked about other hosts.
#pragma once
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cluster/reading.h"
#include "launcher/command/options.h"
#include "launcher/plan/slots.h"

namespace rota::launcher {

// The environment or the command line describes the hosts in a malformed or contradictory way.
class SpecificationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The key that the hosts share is missing, or cannot be trusted.
class KeyError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Collects the input of the sources. Throws UsageError if --hostfile cannot be read, and
// SpecificationError if a host file that a variable names cannot be read. If this is the file of a
// batch system, throws nothing, because another source may decide.
cluster::Given gather_given(const Options& options, const std::vector<std::string>& environment,
                            const std::string& host_name);

// Reads the input of the sources, and decides between them. Throws SpecificationError.
cluster::Reading read_given(const cluster::Given& given);

// The decision.
struct JobScope {
  DeclaredRanks declared{};                       // For a job of this host alone.
  std::optional<cluster::Specification> hosts{};  // Set if there are other hosts.
};

// Decides the scope. A process that was started as one rank of several is a host with one slot:
// nested_launch.h. Throws SpecificationError. Throws UsageError if an option works on one host
// only.
JobScope decide_scope(const Options& options, const cluster::Given& given);

// Returns what the rank table assumes about the slots of other hosts, as text for a person; empty
// if the table assumes nothing.
std::string note_on_slots(const cluster::Specification& chosen, std::size_t slot_count);

// The rank table that the job will have, and the ranks of this host in it. `slot_count` is the
// number of slots of each host that declares none. Throws Error, UsageError, and SpecificationError
// if a host has no name.
struct DeclaredTable {
  RankTable table;
  std::vector<std::size_t> own_ranks{};
};
DeclaredTable declared_table(const Options& options, const cluster::Given& given,
                             const cluster::Specification& chosen, std::size_t slot_count);

// Throws SpecificationError if --np differs from the declared number of ranks.
void require_declared_count(const Options& options, const cluster::Specification& chosen);

// What --explain prints. `slot_count` is the number of slots of each host that declares none.
struct Explanation {
  std::string text;
  bool is_decided = false;
  bool is_alone = false;  // If true, --show-ranks shows the plan of this host alone.
  std::optional<cluster::Specification> hosts{};  // Set if there are other hosts.
};
Explanation explain_scope(const Options& options, const cluster::Given& given,
                          std::size_t slot_count);

}  // namespace rota::launcher
