// Takes the time whenever a gradient is final.
#include "predict/measured_workload.h"

#include <rota/communicator.h>
#include <rota/dataset.h>
#include <rota/replica.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/time.h"
#include "examples/mnist/models.h"
#include "overlap/digits.h"
#include "statistics.h"

namespace rota::bench {
namespace {

constexpr std::size_t kBatchSize = 100;
constexpr std::size_t kSteps = 15;
constexpr double kLeastSeconds = 1e-9;  // Two gradients may be final at one tick of the clock.

// The seconds of the parts of some steps.
struct Parts {
  std::vector<double> forward;
  std::vector<std::vector<double>> gradients;  // Index = gradient.
  std::vector<double> whole;                   // With the update.
};

// Binds a model to memory of its own, and times its passes.
class TimedModel {
 public:
  TimedModel(Communicator& communicator, Model<float>& model) : model_(model) {
    for (std::size_t index = 0; index < model.parameters().size(); ++index) {
      const std::size_t bytes = model.parameters()[index].count() * sizeof(float);
      values_.push_back(communicator.allocate(bytes));
      gradients_.push_back(communicator.allocate(bytes));
      model.bind(index, floats_in(values_.back()), floats_in(gradients_.back()));
    }
    model.initialize(1);
  }

  void step(const Batch<float>& batch, Parts& parts) {
    auto before = base::Clock::now();
    const auto lap = [&before] {
      const auto now = base::Clock::now();
      return base::to_seconds(now - std::exchange(before, now));
    };
    model_.forward(batch);
    parts.forward.push_back(lap());
    model_.backward([&](std::size_t index) { parts.gradients[index].push_back(lap()); });
  }

 private:
  static std::span<float> floats_in(const Block& block) {
    return {reinterpret_cast<float*>(block.bytes().data()), block.bytes().size() / sizeof(float)};
  }

  Model<float>& model_;
  std::vector<Block> values_;
  std::vector<Block> gradients_;
};

// Steps of the passes alone and whole steps alternate, so that a slow moment slows both.
Parts time_parts(const std::string& name, const Dataset& digits) {
  Communicator communicator{CommunicatorOptions{}};
  Model<float> model(digits.shape, layers_of(name, digits.classes));
  Parts parts{.gradients = std::vector<std::vector<double>>(model.parameters().size())};
  TimedModel timed(communicator, model);
  Replica<float> replica(communicator, Model<float>(digits.shape, layers_of(name, digits.classes)),
                         {.optimizer = Sgd{.learning_rate = 0.05, .momentum = 0.9}, .seed = 1});
  BatchBuffer<float> buffer(digits, kBatchSize);
  std::vector<std::uint64_t> samples(kBatchSize);
  std::iota(samples.begin(), samples.end(), std::uint64_t{0});
  for (std::size_t step = 1; step <= kSteps; ++step) {
    const Batch<float> batch = buffer.gather(samples);
    timed.step(batch, parts);
    const auto begin = base::Clock::now();
    replica.step(batch, {.epoch = 1, .step = step});
    parts.whole.push_back(base::to_seconds(base::Clock::now() - begin));
  }
  return parts;
}

}  // namespace

bool is_model(const std::string& name) { return name == "mlp" || name == "lenet"; }

Workload measure_workload(const std::string& model) {
  const Dataset digits = make_digits(kBatchSize, 1);
  const Parts parts = time_parts(model, digits);
  const Model<float> shapes(digits.shape, layers_of(model, digits.classes));
  Workload workload{.name = model, .forward_seconds = median(parts.forward)};
  double passes = workload.forward_seconds;
  for (std::size_t index = 0; index < parts.gradients.size(); ++index) {
    const ParameterInfo& parameter = shapes.parameters()[index];
    const double seconds = std::max(kLeastSeconds, median(parts.gradients[index]));
    workload.gradients.push_back({parameter.name, parameter.count(), seconds});
    passes += seconds;
  }
  workload.update_seconds = std::max(0.0, median(parts.whole) - passes);
  return workload;
}

}  // namespace rota::bench
