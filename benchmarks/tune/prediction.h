// What an all-reduce is expected to cost, from a model of the world that a few numbers make: its
// plan's steps are run in simulated time.
#pragma once
#include <cstddef>
#include <vector>

#include "collectives/plan.h"

namespace rota::bench {

// From one rank to another.
struct Link {
  double latency_seconds = 0;   // Of a few bytes, from the one's call to the other's return.
  double busy_seconds = 0;      // For which such a message occupies either end.
  double seconds_per_byte = 0;  // While the other direction is as busy.
};

struct WorldModel {
  std::vector<std::size_t> hosts;  // Index = rank, equal where the host is.
  Link within_host;
  Link between_hosts;
  double reduce_seconds_per_byte = 0;
  bool shares_memory = false;  // Ranks reach each other's.
};

// Seconds until the last rank has the sum of so many bytes of floats, in place. A rank does one
// thing at a time, and so does each direction of a host's cable.
double predict(const WorldModel& model, collectives::Algorithm algorithm, std::size_t bytes);

}  // namespace rota::bench
