// A training run of a few steps. Every strategy can run it.
#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

#include <rota/strategy.h>
#include <rota/trainer.h>

#include "training/thread_ranks.h"

namespace rota::testing {

// Trains, and returns the hash of rank 0's final weights; 0 if rank 0 is not in this process.
inline std::uint64_t weights_trained_by(Strategy& strategy) {
  const Dataset data = small_dataset(60);
  std::atomic<std::uint64_t> hash{0};
  strategy.run([&](Communicator& communicator) {
    Model<float> model({6, 6, 1}, {convolution(2, 3), relu(), max_pool(2), dense(4)});
    Trainer<float> trainer(communicator, std::move(model), data, data,
                           {.epochs = 2, .batch_size = 10});
    const EndReport end = trainer.run();
    if (communicator.rank() == 0) hash = end.weights_hash;
  });
  return hash;
}

}  // namespace rota::testing
