// Steps of training the example's LeNet, whose gradients travel while the backward pass runs,
// against steps that send all of them at its end: by turns, in one run, so that a machine that is
// slow for a while is slow for both. Beside them, by turns too, what the two are made of: the
// computing, and the communication.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <rota/communicator.h>

namespace rota::bench {

struct ContestOptions {
  std::size_t batch_size = 100;  // A rank's, as in the example.
  std::size_t steps = 5;         // In a row, of each kind.
  std::size_t rounds = 11;
};

// In seconds a step, of the slowest rank; a sample a round.
struct ContestTimes {
  std::vector<double> overlapped;     // Buckets as they are by default.
  std::vector<double> at_end;         // One bucket that holds everything.
  std::vector<double> compute;        // A world of one on each rank at once: all but the sums.
  std::vector<double> communication;  // The sum of one bucket that holds everything, alone.
};

struct ContestResult {
  ContestOptions options;
  std::string transport;
  std::size_t ranks = 0;
  std::size_t gradient_bytes = 0;
  std::size_t bucket_count = 0;  // By default.
  ContestTimes times;
  std::uint64_t overlapped_hash = 0;  // Of the weights that rank 0 has at the end,
  std::uint64_t at_end_hash = 0;      // after as many steps.
};

// Collective. Both trainings see the same images. Throws std::runtime_error where their weights
// differ in a world in which they may not: in one of up to two ranks.
ContestResult run_contest(Communicator& communicator, const ContestOptions& options);

}  // namespace rota::bench
