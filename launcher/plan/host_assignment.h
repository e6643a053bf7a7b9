// The assignment of a host has the ranks and evaluators of a job that the host runs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "launcher/plan/layout.h"
#include "launcher/plan/placement.h"

namespace rota::launcher {

// A rank, or an evaluator.
struct JobMember {
  std::size_t number = 0;
  bool is_evaluator = false;

  friend bool operator==(const JobMember&, const JobMember&) = default;
};

struct HostAssignment {
  std::uint32_t world = 1;               // Number of the world; the first one has 1.
  std::vector<std::size_t> ranks;        // Index: local rank.
  std::vector<std::size_t> groups = {};  // Same index: the group of its program.
  std::vector<Cpus> places = {};         // Same index. Empty set: not bound.
  std::size_t world_size = 1;
  std::string transport = {};  // As in the rank table.
  std::size_t host_index = 0;
  std::size_t host_count = 1;

  // Ranks of other rotaruns on this machine: how many have lower local ranks than the ranks of this
  // rotarun, and how many there are in total.
  std::size_t earlier_count = 0;
  std::size_t other_count = 0;

  // By rank: the path of its arena. Used if ranks of several rotaruns share memory.
  std::vector<std::string> arenas = {};

  std::vector<std::size_t> evaluators = {};  // The group of each; all are on one host.

  bool sends_output = false;  // The host that leads the job shows the output.
  std::vector<JobMember>
      remote_members{};  // Members on other hosts whose output this host shows. Not sent.
};

// Returns the assignment of one host. It has no CPU places, since each host decides these itself,
// and no evaluators.
HostAssignment assignment_of(const Layout& layout, std::size_t host,
                             const std::vector<Group>& groups, const std::string& transport);

// Returns one line for each rank: its host, and the CPUs that the rank is bound to.
std::vector<std::string> describe_bindings(const HostAssignment& assignment,
                                           const std::string& host);

}  // namespace rota::launcher
