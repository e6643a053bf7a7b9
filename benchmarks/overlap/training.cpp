// Trains with the optimizer of the example.
#include "overlap/training.h"

#include <numeric>
#include <span>

#include "examples/mnist/models.h"

namespace rota::bench {
namespace {

ReplicaOptions options_from(const TrainingSettings& settings) {
  ReplicaOptions options{.optimizer = Sgd{.learning_rate = 0.05, .momentum = 0.9},
                         .buckets = settings.buckets,
                         .seed = 1,
                         .agreements = settings.agreements};
  options.agreements.push_back({"batch size", std::to_string(settings.batch_size)});
  return options;
}

}  // namespace

Training::Training(Communicator& communicator, const Dataset& digits,
                   const TrainingSettings& settings)
    : replica_(communicator, model_for(digits, settings.model), options_from(settings)),
      batch_(digits, settings.batch_size),
      order_(digits.count()),
      batch_size_(settings.batch_size) {
  std::iota(order_.begin(), order_.end(), std::uint64_t{0});
}

void Training::step() {
  const std::size_t first = step_count_++ % kBatches * batch_size_;
  const auto samples = std::span<const std::uint64_t>(order_).subspan(first, batch_size_);
  replica_.step(batch_.gather(samples), {.epoch = 1, .step = step_count_});
}

Model<float> model_for(const Dataset& digits, const std::string& name) {
  return {digits.shape, layers_of(name, digits.classes)};
}

}  // namespace rota::bench
