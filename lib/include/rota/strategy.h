// Synchronous data-parallel training: one replica of a model a process, equal at every step.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rota/communicator.h>
#include <rota/gradient_buckets.h>
#include <rota/model.h>
#include <rota/optimizer.h>

namespace rota {

struct StrategyOptions {
  OptimizerOptions optimizer;
  BucketOptions buckets;
  std::uint64_t seed = 0;  // Of the initial parameters.

  // What else all ranks must agree on: a name, and its value as text.
  std::vector<std::pair<std::string, std::string>> agreements;
};

// Where a step stands, for the sum's scale and for messages.
struct StepPlace {
  std::size_t epoch = 0;  // From 1.
  std::size_t step = 0;   // In the epoch, from 1.
  std::size_t world_sample_count = 0;
  double learning_rate_factor = 1;
};

// T is float or double.
template <class T>
class MultiWorkerStrategy {
 public:
  // Takes `model`, gives it memory, compares it with those of the other ranks and hands out rank
  // 0's initial parameters. `communicator` is lent. Collective: every rank makes one.
  // Throws Error kMismatch, on every rank, when ranks disagree on parameters, optimizer, buckets or
  // options.agreements: the text shows both sides. kInvalidArgument; and what collectives throw.
  MultiWorkerStrategy(Communicator& communicator, Model<T> model, const StrategyOptions& options);
  MultiWorkerStrategy(const MultiWorkerStrategy&) = delete;
  MultiWorkerStrategy& operator=(const MultiWorkerStrategy&) = delete;

  // One step on this rank's share of the samples, which may be empty; the gradient is the mean over
  // the samples of all ranks, of which there are place.world_sample_count. Returns the score of all
  // ranks. Collective. Allocates nothing once it has seen a batch of this size.
  // Throws Error kNotFinite when the loss is; the other ranks' calls then throw kAborted.
  Score step(const Batch<T>& batch, const StepPlace& place);

  // This rank's score, without dropout. Not collective.
  Score evaluate(const Batch<T>& batch) { return model_.evaluate(batch); }

  // The sum of the ranks' scores. Collective.
  Score sum_over_world(const Score& score);

  const Model<T>& model() const noexcept { return model_; }
  std::span<const T> values(std::size_t index) const noexcept { return values_[index]; }

  // FNV-1a over the bytes of all parameters in order.
  std::uint64_t weights_hash() const noexcept;

 private:
  void check_finite(double loss, const StepPlace& place);

  Communicator& communicator_;
  Model<T> model_;
  Block memory_;
  std::vector<std::span<T>> values_;  // By parameter, in memory_.
  GradientBuckets<T> buckets_;        // Score first, then a gradient a parameter.
  Optimizer<T> optimizer_;
  std::function<void(std::size_t)> gradient_ready_;
};

extern template class MultiWorkerStrategy<float>;
extern template class MultiWorkerStrategy<double>;

}  // namespace rota
