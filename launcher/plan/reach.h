// How far a job is meant to reach: whether this host makes it alone, or with others.
//
// Where more than this host is declared, no host makes a world of its own, which would succeed and
// have trained another model. --np alone says how many ranks there are and not where, so that it
// changes nothing; --this-host does, by which nobody is asked about other hosts.
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

// What the environment or the command line says about hosts is malformed or contradicts itself.
class SpecificationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The key that the hosts share is missing, or is not to be trusted.
class KeyError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What there is to go by. Throws UsageError where --hostfile cannot be read.
cluster::Given gather_given(const Options& options, const std::vector<std::string>& environment,
                            const std::string& host_name);

// What all that says together. Throws SpecificationError.
cluster::Reading read_given(const cluster::Given& given);

// What was decided.
struct Reach {
  DeclaredRanks declared{};                       // Of a job of this host alone.
  std::optional<cluster::Specification> hosts{};  // Where there are others.
};

// A process that was started as one rank of several is a host with one slot: one_slot_each.h.
// Throws SpecificationError; UsageError where an option is for one host.
Reach decide_reach(const Options& options, const cluster::Given& given);

// What of the table is taken for granted, for a person; empty where nothing is.
std::string note_on_slots(const cluster::Specification& chosen, std::size_t slot_count);

// Its rank table as the job will have it, and which ranks of it this host has. `slot_count` is that
// of each host that declares none. Throws Error, UsageError, and SpecificationError where not every
// host is named.
struct DeclaredTable {
  RankTable table;
  std::vector<std::size_t> own_ranks{};
};
DeclaredTable declared_table(const Options& options, const cluster::Given& given,
                             const cluster::Specification& chosen, std::size_t slot_count);

// Throws SpecificationError where --np is another number than the declared one.
void require_declared_count(const Options& options, const cluster::Specification& chosen);

// What --explain prints. `slot_count` is that of each host that declares none.
struct Explanation {
  std::string text;
  bool is_decided = false;
  bool is_alone = false;  // So that the table is the one that --show-ranks shows.
};
Explanation explain_reach(const Options& options, const cluster::Given& given,
                          std::size_t slot_count);

}  // namespace rota::launcher
