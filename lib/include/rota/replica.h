// One copy of a model that is trained together with those of all other ranks, equal at every step.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rota/communicator.h>
#include <rota/export.h>
#include <rota/gradient_buckets.h>
#include <rota/model.h>
#include <rota/optimizer.h>
#include <rota/training_state.h>

namespace rota {

struct ReplicaOptions {
  OptimizerOptions optimizer;
  BucketOptions buckets;
  std::uint64_t seed = 0;  // Of the initial parameters.

  // A mean gradient whose Euclidean norm, over all parameters together, is larger is scaled down to
  // it. 0: none is. Weight decay is added afterwards.
  double max_gradient_norm = 0;

  // What else all ranks must agree on: a name, and its value as text.
  std::vector<std::pair<std::string, std::string>> agreements;
};

// Where a step stands. Epoch and step are for messages.
struct StepPlace {
  std::size_t epoch = 0;  // From 1.
  std::size_t step = 0;   // In the epoch, from 1.
  double learning_rate_factor = 1;
};

// T is float or double. One thread at a time may use it: the one that uses its Communicator.
template <class T>
class ROTA_EXPORT Replica {
 public:
  // Takes `model`, gives it memory, compares it with those of the other ranks and hands out rank
  // 0's initial parameters. `communicator` is lent, and must outlive this. Collective: every rank
  // makes one.
  // Throws Error kMismatch, on every rank, when ranks disagree on parameters, optimizer, clipping,
  // buckets or options.agreements: the text shows both sides. kInvalidArgument; and what
  // collectives throw.
  Replica(Communicator& communicator, Model<T> model, const ReplicaOptions& options);
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  // Adds a micro-batch to the next step. Nothing is communicated, so that ranks may differ in how
  // many they add. Throws Error kInvalidArgument for a batch that does not fit the model.
  void accumulate(const Batch<T>& batch);

  // One step on this rank's share of the samples: those that were accumulated, and `batch`, whose
  // backward pass sends the gradients. The gradient is the mean over the samples of all ranks,
  // however they are spread. A rank that has run out of data takes part with an empty batch until
  // the score, which is that of all ranks, has no samples: then nobody has any left, and no
  // parameter was touched. Collective. Allocates nothing once it has seen batches of this size.
  // Throws Error kNotFinite when the loss, or the norm that is to be clipped, is not: the other
  // ranks' calls then throw kNotFinite too, or kAborted. kInvalidArgument as accumulate.
  Score step(const Batch<T>& batch, const StepPlace& place);

  // This rank's score, without dropout. Not collective.
  Score evaluate(const Batch<T>& batch) { return model_.evaluate(batch); }

  // The sum of the ranks' scores. Collective.
  Score sum_over_world(const Score& score);

  const Model<T>& model() const noexcept { return model_; }
  std::span<const T> values(std::size_t index) const noexcept { return values_[index]; }

  // Facts that a state must share with the ranks that it is given to, the optimizer's memory, what
  // the codec has lost, and the parameters. Between steps only: throws Error kInvalidArgument where
  // micro-batches were accumulated.
  void visit_state(StateVisitor& visitor);

  // A copy of it, of this rank. Not collective.
  State state();

  // Goes on from `state`, which state() of the same rank gave: in a program with the same model,
  // options, codec and world, the next steps have the bits that they would have had. Except for
  // Codec::kInt8Stochastic: what it rounds depends on how many calls the communicator has made.
  // Collective: every rank gives a state of the same step. Throws Error kInvalidArgument, on every
  // rank, where it does not fit, with both sides; kMismatch, on every rank, where ranks were given
  // different ones, or it fits some of them. Nothing has been changed then. What collectives throw.
  void give_state(const State& state);

  // FNV-1a over the bytes of all parameters in order. Equal on all ranks between steps.
  std::uint64_t weights_hash() const noexcept;

 private:
  Gradients forward(const Batch<T>& batch);
  void update(std::uint64_t world_sample_count, const StepPlace& place);
  double clipping_factor(std::uint64_t world_sample_count, const StepPlace& place);
  void wait_for(std::size_t parameter);
  void check_finite(const char* what, double value, const StepPlace& place);

  Communicator& communicator_;
  double max_gradient_norm_;
  std::vector<std::pair<std::string, std::string>> facts_;  // Beside the parameters.
  Model<T> model_;
  Block memory_;
  std::vector<std::span<T>> values_;  // By parameter, in memory_.
  GradientBuckets<T> buckets_;        // A gradient a parameter.
  Optimizer<T> optimizer_;
  std::function<void(std::size_t)> gradient_ready_;
  Score mine_;  // Of what the gradients hold, in a step that is not sent yet.
};

extern template class Replica<float>;
extern template class Replica<double>;

}  // namespace rota
