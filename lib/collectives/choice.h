// Which algorithm a collective takes where the caller leaves it open.
#pragma once
#include <cstddef>

#include "collectives/plan.h"

namespace rota::collectives {

struct Situation {
  Collective collective = Collective::kAllReduce;
  std::size_t world_size = 1;
  std::size_t bytes = 0;       // Of the values.
  bool shares_memory = false;  // Peers read each other's memory.
  std::size_t host_count = 1;  // That they are on.
};

struct Choice {
  Algorithm algorithm = Algorithm::kRing;
  const char* why = "";
};

// A function of what all ranks have in common. For sums, whatever it takes gives the ring's bits.
Choice choose(const Situation& situation) noexcept;

}  // namespace rota::collectives
