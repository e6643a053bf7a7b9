// Has the part of a Replica that is the same for every model: memory, buckets, optimizer, state.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rota/communicator.h>
#include <rota/cuda_stream.h>
#include <rota/device_span.h>
#include <rota/export.h>
#include <rota/gradient_buckets.h>
#include <rota/model.h>
#include <rota/optimizer.h>
#include <rota/safetensors.h>
#include <rota/step_guard.h>
#include <rota/trainable.h>
#include <rota/training_state.h>

namespace rota {
namespace training {
class DeviceReplica;
}  // namespace training

// A name and a value that must be equal on all ranks. A state has both, too, so that they can be
// compared when training continues from it. With kNoted, the values may differ: a state has rank
// 0's.
struct Agreement {
  std::string name;
  std::string value;
  StateFit fit = StateFit::kStrict;  // Whether a later training run may have another value.
};

struct ReplicaOptions {
  OptimizerOptions optimizer;
  BucketOptions buckets;   // Of sums: another op than kSum is an Error kInvalidArgument.
  std::uint64_t seed = 0;  // For the initial parameters.

  // The largest Euclidean norm of the mean gradient, over all parameters together. A gradient with
  // a larger norm is scaled down to this norm. 0: no clipping. Weight decay is added afterwards.
  double max_gradient_norm = 0;

  std::vector<Agreement> agreements;  // More facts to compare than those of the Replica itself.
};

// The place of a step in the training run. Epoch and step are used in messages only.
struct StepPlace {
  std::size_t epoch = 0;  // From 1.
  std::size_t step = 0;   // In the epoch, from 1.
  double learning_rate_factor = 1;
  // Further numbers to add up over all ranks. They travel with the score. Every rank must give the
  // same number of them.
  std::span<const double> more_sums{};
};

// T is float or double. Replica uses this class; Replica has the model and its score.
template <class T>
class ROTA_EXPORT ReplicaCore {
 public:
  // Compares the facts on which ranks must agree, but leaves the parameters to share_parameters().
  // In all other respects, works like the constructor of Replica. `settings` are those of the
  // model, see <rota/trainable.h>. `stream` is the one on which a model on a device computes.
  ReplicaCore(Communicator& communicator, std::span<const ParameterInfo> parameters,
              const ReplicaOptions& options, const std::string& settings = {},
              const std::optional<cuda::On>& stream = {});
  template <Trainable M>
  ReplicaCore(Communicator& communicator, const M& model, const ReplicaOptions& options)
      : ReplicaCore(communicator, model.parameters(), options, settings_of(model),
                    device_stream_of(model)) {}
  ~ReplicaCore();
  ReplicaCore(const ReplicaCore&) = delete;
  ReplicaCore& operator=(const ReplicaCore&) = delete;

  bool is_on_device() const noexcept { return device_ != nullptr; }
  // Tells a model on a device where parameter `index` and its gradient are. Requires
  // is_on_device().
  template <class M>
  void bind_on_device(M& model, std::size_t index) {
    const DeviceSpan<T> values = device_values(index);
    const DeviceSpan<T> gradient = device_gradient(index);
    if constexpr (requires { model.bind(index, values, gradient, cuda::Handle{}); }) {
      model.bind(index, values, gradient, event_for_model(index));
    } else {
      model.bind(index, values, gradient);
    }
  }
  // On a device, waits for the sums of the latest step, for which only the device's stream waits.
  // Throws what Request::wait throws.
  void settle();
  // On a device, values() and gradient() return copies in host memory. Brings them up to date.
  void refresh() const;

  std::span<T> values(std::size_t index) const noexcept { return values_[index]; }
  std::span<T> gradient(std::size_t index) const noexcept { return buckets_.gradient(index); }

  const Optimizer<T>& optimizer() const noexcept { return optimizer_; }

  // Collective: every rank ends with the parameters of rank 0.
  void share_parameters();

  // Sends the sample count and the sums of this rank, the loss first, and then place.more_sums. The
  // backward pass must call gradient_ready() for each gradient. It follows; on a device, it has
  // been put on the stream before. Throws Error kNotFinite if the loss is not finite.
  void begin_step(std::uint64_t samples, std::span<const double> sums, const StepPlace& place);
  const std::function<void(std::size_t)>& gradient_ready() noexcept;

  // Updates the parameters once the gradients of all ranks have arrived. Returns the number of
  // samples of all ranks; world_sums() then returns the sums of all ranks. Throws Error kNotFinite
  // as Replica::step does.
  std::uint64_t finish_step(const StepPlace& place);
  std::span<const double> world_sums();
  double waited_seconds() const noexcept;

  // Collective: returns the number of samples of all ranks, and replaces `sums` by the sums of all
  // ranks.
  std::uint64_t sum_over_world(std::uint64_t samples, std::span<double> sums);

  // As Replica::set_guard.
  void set_guard(StepGuard* guard) noexcept;

  // These functions do what the functions of Replica with these names do.
  void load(const SafetensorsFile& file);
  std::vector<NamedTensor> tensors() const;
  std::vector<NamedTensor> gradients() const;

  void visit_state(StateVisitor& visitor);
  // `visit` visits all of the state of the object that owns this core. In all other respects, works
  // like Replica::give_state.
  void give_state(const State& state, const StateVisit& visit);

  std::uint64_t weights_hash() const;

 private:
  DeviceSpan<T> device_values(std::size_t index) const noexcept;
  DeviceSpan<T> device_gradient(std::size_t index) const noexcept;
  cuda::Handle event_for_model(std::size_t index) noexcept;
  void make_device_replica(const cuda::On& stream, const BucketOptions& buckets);
  void update(std::uint64_t world_sample_count, const StepPlace& place);
  double clipping_factor(std::uint64_t world_sample_count, const StepPlace& place);
  double squared_norm();  // Of all gradients, on the host.
  void wait_for(std::size_t parameter);
  void announce_change();
  void check_finite(const char* what, double value, const StepPlace& place);

  Communicator& communicator_;
  double max_gradient_norm_;
  StepGuard* guard_ = nullptr;
  bool sends_ = true;             // Whether this step sends gradients.
  std::vector<Agreement> facts_;  // Facts that ranks compare.
  std::vector<ParameterInfo> parameters_;
  Block memory_;
  std::vector<double> sums_;          // Of the last step, this rank's.
  std::vector<std::span<T>> values_;  // Index = parameter; in memory_.
  GradientBuckets<T> buckets_;        // One gradient for each parameter.
  Optimizer<T> optimizer_;
  std::function<void(std::size_t)> gradient_ready_;
  // Null on the host. Otherwise the values, the gradients and the optimizer's memory are there, the
  // members above have copies of them, and buckets_ sums nothing.
  std::unique_ptr<training::DeviceReplica> device_;
};

extern template class ReplicaCore<float>;
extern template class ReplicaCore<double>;

}  // namespace rota
