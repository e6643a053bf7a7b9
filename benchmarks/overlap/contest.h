// Compares two kinds of training steps of the example's LeNet: steps that send gradients while the
// backward pass runs, and steps that send all gradients at its end. Both kinds alternate in one run
// with steps that only compute and steps that only communicate. So a machine that is slow for a
// while slows all four kinds.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <rota/communicator.h>

namespace rota::bench {

struct ContestOptions {
  std::size_t batch_size = 100;  // Per rank, as in the example.
  std::size_t steps = 5;         // Consecutive steps of each kind.
  std::size_t rounds = 11;
};

// Seconds for a step of the slowest rank, one sample for each round.
struct ContestTimes {
  std::vector<double> overlapped;     // Default buckets.
  std::vector<double> at_end;         // One bucket that holds everything.
  std::vector<double> compute;        // All ranks compute at the same time, without sums.
  std::vector<double> communication;  // Only the sum of one bucket with everything.
};

struct ContestResult {
  ContestOptions options;
  std::string transport;
  std::size_t ranks = 0;
  std::size_t gradient_bytes = 0;
  std::size_t bucket_count = 0;  // With default buckets.
  ContestTimes times;
  // Hashes of rank 0's weights after the last step: of the steps that send during the backward
  // pass, and of the same number of steps that send at its end.
  std::uint64_t overlapped_hash = 0;
  std::uint64_t at_end_hash = 0;
};

// Collective. Both kinds of training see the same images. Throws std::runtime_error if there are
// one or two ranks, and the two kinds end with different weights: with so few ranks the weights
// must be equal.
ContestResult run_contest(Communicator& communicator, const ContestOptions& options);

}  // namespace rota::bench
