// Counts how many seeds met each failure: in calls of each kind, and at each place that a rank may
// have in its world.
#pragma once
#include <array>
#include <bitset>
#include <cstdint>
#include <string>

#include "simulation/scenario.h"

namespace rota::simulation {

class Coverage {
 public:
  // Counts one seed, in which a rank failed during calls of these kinds.
  void add(const Scenario& scenario, const std::bitset<kKinds>& kinds);

  // Returns a table with a row for each kind or place, and a column for each failure. "-" marks
  // what cannot occur.
  std::string to_text() const;

  // Returns the pairs that can occur but that no seed has met, one per line.
  std::string gaps() const;

 private:
  using Row = std::array<std::uint64_t, kFailures>;

  std::array<Row, kKinds> kinds_{};
  std::array<Row, kPlaces> places_{};
};

}  // namespace rota::simulation
