// Chooses the algorithm of a collective if the caller does not.
#pragma once
#include <cstddef>

#include "collectives/description.h"

namespace rota::collectives {

// The properties of the world that the choice depends on.
struct Surroundings {
  std::size_t world_size = 1;
  bool shares_memory = false;  // Peers read each other's memory.
  std::size_t host_count = 1;  // The number of hosts with ranks.
};

struct Choice {
  Algorithm algorithm = Algorithm::kRing;
  const char* why = "";
};

// Returns the algorithm for `call`, and why. The result depends only on facts that are the same on
// all ranks. For sums, every choice gives the ring's bits.
Choice choose(const Description& call, const Surroundings& world) noexcept;

}  // namespace rota::collectives
