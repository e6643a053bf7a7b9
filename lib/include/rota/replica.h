// Has a rank's copy of a model. All ranks train their copies together, and the copies are equal
// after every step.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <rota/communicator.h>
#include <rota/error.h>
#include <rota/export.h>
#include <rota/replica_core.h>
#include <rota/safetensors.h>
#include <rota/trainable.h>
#include <rota/training_state.h>

namespace rota {

// T is float or double. M is a model with elements of type T, see <rota/trainable.h>. One thread at
// a time may use a Replica: the thread that uses its Communicator.
template <class T, Trainable M = Model<T>>
class ROTA_EXPORT Replica {
 public:
  using BatchType = typename M::BatchType;
  using ScoreType = typename M::ScoreType;

  // Takes over `model`, gives it memory, compares it with the models of the other ranks, and gives
  // every rank the initial parameters of rank 0. `communicator` is borrowed, and must outlive this
  // object. If the model computes on a device, its parameters and gradients are there. Collective:
  // every rank must make a Replica, and some may be on devices. Throws Error kMismatch on every
  // rank if ranks disagree on parameters, the model's settings (its layers and their numbers),
  // optimizer, clipping, buckets or options.agreements; the text shows both sides. Throws
  // kInvalidArgument for wrong options, and what collectives throw.
  Replica(Communicator& communicator, M model, const ReplicaOptions& options)
      : core_(communicator, model, options), model_(std::move(model)) {
    for (std::size_t index = 0; index < model_.parameters().size(); ++index) bind(index);
    model_.initialize(options.seed);
    core_.share_parameters();
  }
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  // Adds a micro-batch to the next step. Communicates nothing, so ranks may add different numbers
  // of micro-batches. Throws Error kInvalidArgument for a batch that does not fit the model.
  void accumulate(const BatchType& batch) {
    const Gradients gradients = forward(batch);
    model_.backward({}, gradients);
  }

  // Takes one step on this rank's samples: the accumulated micro-batches, and `batch`, whose
  // backward pass sends the gradients. The gradient is the mean over the samples of all ranks,
  // however they are divided among the ranks. Returns the score of all ranks. A rank that has no
  // data left must call step() with an empty batch, until the returned score has 0 samples. Then no
  // rank has data left, and that step changed no parameter. Collective: every rank must call it.
  // Allocates nothing once it has seen batches of this size. Throws Error kNotFinite if the loss,
  // or the norm that clipping needs, is not finite. Then the calls of the other ranks throw
  // kNotFinite too, or kAborted. Throws kInvalidArgument as accumulate() does, and what collectives
  // throw.
  ScoreType step(const BatchType& batch, const StepPlace& place) {
    const Gradients gradients = forward(batch);
    if (core_.is_on_device()) {  // The backward pass is on the stream before the score is there.
      model_.backward(core_.gradient_ready(), gradients);
      take_late_sums();
    }
    const ScoreType mine = std::exchange(mine_, {});
    core_.begin_step(mine.samples, mine.sums(), place);  // The sums travel while backward computes.
    if (!core_.is_on_device()) model_.backward(core_.gradient_ready(), gradients);
    const auto samples = static_cast<std::size_t>(core_.finish_step(place));
    auto sums = mine.sums();
    std::ranges::copy(core_.world_sums().first(sums.size()), sums.begin());
    return ScoreType::from_sums(sums, samples);
  }

  // Returns the sums over all ranks of the last step's StepPlace::more_sums, until the next step.
  std::span<const double> world_more_sums() {
    return core_.world_sums().subspan(kSumCount<ScoreType>);
  }

  // Returns the seconds for which steps have waited for sums over all ranks since the start.
  double waited_seconds() const noexcept { return core_.waited_seconds(); }

  // Returns this rank's score of `batch`, without dropout. Not collective.
  ScoreType evaluate(const BatchType& batch) {
    core_.settle();  // Throws if a rank is lost that has a part of the last step's sums.
    return model_.evaluate(batch);
  }

  // Returns the sum of the scores of all ranks. Collective: every rank must call it.
  ScoreType sum_over_world(const ScoreType& score) {
    auto sums = score.sums();
    const std::uint64_t samples = core_.sum_over_world(score.samples, sums);
    return ScoreType::from_sums(sums, static_cast<std::size_t>(samples));
  }

  const M& model() const noexcept { return model_; }
  std::span<const T> values(std::size_t index) const {
    core_.refresh();
    return core_.values(index);
  }

  // Returns the parameters by name, as write_safetensors() takes them. Their values are in the
  // memory of this object, and each step changes them.
  std::vector<NamedTensor> tensors() const { return core_.tensors(); }

  // Returns the gradients of the last step, with the names of their parameters. They are sums over
  // the samples of all ranks, before clipping. Their values are in the memory of this object, and
  // are valid between steps.
  std::vector<NamedTensor> gradients() const { return core_.gradients(); }

  // On a device, values(), tensors() and gradients() return copies as of the call. Brings earlier
  // copies up to date, too, and waits for the device. On the host, does nothing.
  void refresh() const { core_.refresh(); }

  // Takes the parameters from `file`, which must have a tensor of the same name, type and shape for
  // each parameter, and no others. The optimizer keeps its memory. Only between steps. Collective:
  // every rank must call it with the same tensors. Throws Error kInvalidArgument on every rank if
  // the tensors do not fit; the text names the tensor, and both shapes. Throws kMismatch on every
  // rank if ranks have different tensors, or if the tensors fit on some ranks only. In these cases
  // nothing has been changed. Also throws what collectives throw.
  void load(const SafetensorsFile& file) { core_.load(file); }

  // From now on, steps announce to `guard` what they are about to write, and so do load() and
  // give_state(). So the state can be copied meanwhile. `guard` is borrowed. If it is null, nothing
  // is announced, which costs nothing.
  void set_guard(StepGuard* guard) noexcept { core_.set_guard(guard); }

  // Forgets micro-batches that were accumulated for a step that will not come.
  void forget_accumulated() noexcept { mine_ = {}; }

  // Visits the facts that must be equal in a state and on the ranks that continue from it. Then
  // visits the optimizer's memory, what the codec has lost, and the parameters. Only between steps:
  // throws Error kInvalidArgument if micro-batches were accumulated.
  void visit_state(StateVisitor& visitor) {
    if (mine_.samples > 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  "a replica has no state in the middle of a step: samples were accumulated");
    }
    core_.visit_state(visitor);
  }

  // Returns a copy of this rank's state. Not collective.
  State state() {
    return copy_state([this](StateVisitor& visitor) { visit_state(visitor); });
  }

  // Continues from `state`, which state() returned on the same rank. With the same model, options,
  // codec and world, the next steps give the same bits as without the interruption. Collective:
  // every rank must give a state of the same step. Throws Error kInvalidArgument on every rank if
  // the state does not fit; the text shows both sides. Throws kMismatch on every rank if ranks were
  // given different states, or if the state fits on some ranks only. In these cases nothing has
  // been changed. Also throws what collectives throw.
  void give_state(const State& state) {
    core_.give_state(state, [this](StateVisitor& visitor) { visit_state(visitor); });
  }

  // Returns FNV-1a over the bytes of all parameters in order. Between steps, all ranks have the
  // same hash.
  std::uint64_t weights_hash() const { return core_.weights_hash(); }

 private:
  void bind(std::size_t index) {
    if constexpr (DeviceTrainable<M>) {
      if (core_.is_on_device()) return core_.bind_on_device(model_, index);
    }
    model_.bind(index, core_.values(index), core_.gradient(index));
  }

  // On a device, waits for the sums of all forward passes, whose samples forward() has counted.
  void take_late_sums() {
    if constexpr (DeviceTrainable<M>) {
      core_.settle();  // These passes wait for the sums of the previous step.
      mine_ = ScoreType::from_sums(model_.late_score().sums(), mine_.samples);
    }
  }

  // Runs the forward pass, and adds the score of `batch` to mine_. After the backward pass, the
  // gradients hold the sum over mine_.samples samples. Returns what the backward pass must do with
  // the gradients.
  Gradients forward(const BatchType& batch) {
    const Gradients gradients = mine_.samples > 0 ? Gradients::kAdd : Gradients::kOverwrite;
    if (core_.is_on_device() && mine_.samples == 0) {  // Forgets sums of forgotten micro-batches.
      take_late_sums();
      mine_ = {};
    }
    mine_ = added(mine_, model_.forward(batch));
    return gradients;
  }

  ReplicaCore<T> core_;
  M model_;           // Uses the memory of core_.
  ScoreType mine_{};  // Score of the samples in the gradients, until the step is sent.
};

extern template class Replica<float>;
extern template class Replica<double>;

}  // namespace rota
