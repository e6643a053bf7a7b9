// The part of a Replica that is the same for every model: memory, buckets, optimizer, state.
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

// T is float or double. For a Replica to use, which has the model and its score.
template <class T>
class ROTA_EXPORT ReplicaCore {
 public:
  // Compares what ranks have to agree on. Otherwise as the constructor of Replica.
  ReplicaCore(Communicator& communicator, std::span<const ParameterInfo> parameters,
              const ReplicaOptions& options);
  ReplicaCore(const ReplicaCore&) = delete;
  ReplicaCore& operator=(const ReplicaCore&) = delete;

  std::span<T> values(std::size_t index) const noexcept { return values_[index]; }
  std::span<T> gradient(std::size_t index) const noexcept { return buckets_.gradient(index); }

  // Rank 0's parameters are all ranks' now. Collective.
  void share_parameters();

  // Sends the count and the sums of this rank, the loss first. The backward pass follows, which
  // calls gradient_ready. Throws Error kNotFinite where the loss is not finite.
  void begin_step(std::uint64_t samples, std::span<const double> sums, const StepPlace& place);
  const std::function<void(std::size_t)>& gradient_ready() const noexcept {
    return gradient_ready_;
  }

  // Updates the parameters once the gradients of all ranks are there. Returns the samples of all
  // ranks, whose sums are world_sums() then. Throws Error kNotFinite as Replica::step.
  std::uint64_t finish_step(const StepPlace& place);
  std::span<const double> world_sums() { return buckets_.world_sums(); }

  // The count, and the sums in place, become those of all ranks. Collective.
  std::uint64_t sum_over_world(std::uint64_t samples, std::span<double> sums);

  void visit_state(StateVisitor& visitor);
  // `visit` names the pieces of whoever has this. Otherwise as Replica::give_state.
  void give_state(const State& state, const StateVisit& visit);

  std::uint64_t weights_hash() const noexcept;

 private:
  void update(std::uint64_t world_sample_count, const StepPlace& place);
  double clipping_factor(std::uint64_t world_sample_count, const StepPlace& place);
  void wait_for(std::size_t parameter);
  void check_finite(const char* what, double value, const StepPlace& place);

  Communicator& communicator_;
  double max_gradient_norm_;
  std::vector<std::pair<std::string, std::string>> facts_;  // Beside the parameters.
  std::vector<ParameterInfo> parameters_;
  Block memory_;
  std::vector<std::span<T>> values_;  // By parameter, in memory_.
  GradientBuckets<T> buckets_;        // A gradient a parameter.
  Optimizer<T> optimizer_;
  std::function<void(std::size_t)> gradient_ready_;
};

extern template class ReplicaCore<float>;
extern template class ReplicaCore<double>;

}  // namespace rota
