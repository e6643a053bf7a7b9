// Which algorithm a collective takes where the caller leaves it open.
#pragma once
#include <cstddef>

#include "collectives/description.h"

namespace rota::collectives {

// The world of a call.
struct Surroundings {
  std::size_t world_size = 1;
  bool shares_memory = false;  // Peers read each other's memory.
  std::size_t host_count = 1;  // That they are on.
};

struct Choice {
  Algorithm algorithm = Algorithm::kRing;
  const char* why = "";
};

// A function of what all ranks have in common. For sums, whatever it takes gives the ring's bits.
Choice choose(const Description& call, const Surroundings& world) noexcept;

}  // namespace rota::collectives
