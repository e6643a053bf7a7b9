// How many seeds met each failure: in a call of each kind, and at each place that a rank may have
// in its world.
#pragma once
#include <array>
#include <bitset>
#include <cstdint>
#include <string>

#include "simulation/scenario.h"

namespace rota::simulation {

class Coverage {
 public:
  // One seed, in which a rank failed while it was in calls of these kinds.
  void add(const Scenario& scenario, const std::bitset<kKinds>& kinds);

  // As a table: a row a kind or a place, and a column a failure. "-" is what cannot be.
  std::string to_text() const;

  // What can be and no seed has met, a line each.
  std::string gaps() const;

 private:
  using Row = std::array<std::uint64_t, kFailures>;

  std::array<Row, kKinds> kinds_{};
  std::array<Row, kPlaces> places_{};
};

}  // namespace rota::simulation
