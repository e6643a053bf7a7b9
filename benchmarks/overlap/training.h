// Steps of a training run of a model of the example, on images that are made up. Two benchmarks
// time them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <rota/communicator.h>
#include <rota/dataset.h>
#include <rota/gradient_buckets.h>
#include <rota/model.h>
#include <rota/replica.h>

namespace rota::bench {

constexpr std::size_t kBatches = 8;  // Batches that the training run repeats.

struct TrainingSettings {
  std::string model;  // "lenet" or "mlp"
  std::size_t batch_size = 0;
  BucketOptions buckets{};
  std::vector<Agreement> agreements{};  // What the ranks must agree on, besides the batch size.
};

// A replica and its place in the data.
class Training {
 public:
  // Collective. Requires kBatches batches of `digits`. Both are borrowed. Throws what Replica
  // throws.
  Training(Communicator& communicator, const Dataset& digits, const TrainingSettings& settings);

  void step();

  std::uint64_t weights_hash() const noexcept { return replica_.weights_hash(); }

  // Returns the seconds for which this rank has waited for sums since the start.
  double waited_seconds() const noexcept { return replica_.waited_seconds(); }

 private:
  Replica<float> replica_;
  BatchBuffer<float> batch_;
  std::vector<std::uint64_t> order_;
  std::size_t batch_size_;
  std::size_t step_count_ = 0;
};

Model<float> model_for(const Dataset& digits, const std::string& name);

}  // namespace rota::bench
