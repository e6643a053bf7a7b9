// The part of a job's world that one host has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "launcher/plan/layout.h"
#include "launcher/plan/placement.h"

namespace rota::launcher {

// A rank, or an evaluator.
struct Guest {
  std::size_t number = 0;
  bool is_evaluator = false;

  friend bool operator==(const Guest&, const Guest&) = default;
};

struct Share {
  std::uint32_t world = 1;               // The number of the world: the first one's is 1.
  std::vector<std::size_t> ranks;        // Index: local rank.
  std::vector<std::size_t> groups = {};  // The same index: whose program each runs.
  std::vector<Cpus> places = {};         // The same index. Empty sets: not bound.
  std::size_t world_size = 1;
  std::string transport = {};  // As the rank table has it.
  std::size_t host_index = 0;
  std::size_t host_count = 1;

  // Of the ranks of this machine that other rotaruns have: how many come before ours, and how many
  // there are.
  std::size_t earlier_count = 0;
  std::size_t other_count = 0;

  // By rank, where each one's arena is opened if ranks of other rotaruns share memory with ours.
  std::vector<std::string> arenas = {};

  std::vector<std::size_t> evaluators = {};  // The group of each. All are on one host.

  bool sends_output = false;    // It is shown where the job is led.
  std::vector<Guest> guests{};  // Of other hosts, whose output is shown here. Is not told.
};

// Without places, which are each host's own affair, and without evaluators.
Share share_of(const Layout& layout, std::size_t host, const std::vector<Group>& groups,
               const std::string& transport);

// A line for each rank: its host, and the CPUs that it is bound to.
std::vector<std::string> describe_bindings(const Share& share, const std::string& host);

}  // namespace rota::launcher
