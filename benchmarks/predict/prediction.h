// Predicts the cost of an all-reduce from a model of the world with a few numbers: runs the steps
// of the plan in simulated time.
#pragma once
#include <cstddef>
#include <vector>

#include "collectives/plan.h"

namespace rota::bench {

// The costs of messages from one rank to another.
struct Link {
  double latency_seconds = 0;   // A few bytes, from the sender's call to the receiver's return.
  double busy_seconds = 0;      // Time for which a message of a few bytes occupies each end.
  double seconds_per_byte = 0;  // With equal traffic in the other direction.
};

// What a rank needs to encode and decode, for each byte of float32.
struct CodecCosts {
  double encode_seconds_per_byte = 0;
  double decode_seconds_per_byte = 0;  // Also with an addition.
};

struct WorldModel {
  std::vector<std::size_t> hosts;  // Index = rank; value = the first rank of its host.
  Link within_host;
  Link between_hosts;
  double reduce_seconds_per_byte = 0;
  bool shares_memory = false;  // Ranks reach each other's memory.
  // A tree of switches: index = rank, value = the first rank of its switch. Empty: one switch.
  std::vector<std::size_t> switches{};
  double uplink_seconds_per_byte = 0;  // Of the cable from a switch to the other switches.
  // A shaper at the cable of each host lets so many bytes pass at once after a pause.
  double burst_bytes = 0;
  CodecCosts codec{};
};

// Returns the seconds until the last rank has the sum of `bytes` of floats, in place. A rank does
// one thing at a time, and so does each direction of a host's cable.
double predict(const WorldModel& model, collectives::Algorithm algorithm, std::size_t bytes);

}  // namespace rota::bench
