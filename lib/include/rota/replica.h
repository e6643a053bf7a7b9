// One copy of a model that is trained together with those of all other ranks, equal at every step.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include <rota/communicator.h>
#include <rota/error.h>
#include <rota/export.h>
#include <rota/replica_core.h>
#include <rota/trainable.h>
#include <rota/training_state.h>

namespace rota {

// T is float or double; M is a model of them, which offers parameters and gradients. One thread at
// a time may use it: the one that uses its Communicator.
template <class T, Trainable M = Model<T>>
class ROTA_EXPORT Replica {
 public:
  using BatchType = typename M::BatchType;
  using ScoreType = typename M::ScoreType;

  // Takes `model`, gives it memory, compares it with those of the other ranks and hands out rank
  // 0's initial parameters. `communicator` is lent, and must outlive this. Collective: every rank
  // makes one.
  // Throws Error kMismatch, on every rank, when ranks disagree on parameters, optimizer, clipping,
  // buckets or options.agreements: the text shows both sides. kInvalidArgument; and what
  // collectives throw.
  Replica(Communicator& communicator, M model, const ReplicaOptions& options)
      : core_(communicator, model.parameters(), options), model_(std::move(model)) {
    for (std::size_t index = 0; index < model_.parameters().size(); ++index) {
      model_.bind(index, core_.values(index), core_.gradient(index));
    }
    model_.initialize(options.seed);
    core_.share_parameters();
  }
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  // Adds a micro-batch to the next step. Nothing is communicated, so that ranks may differ in how
  // many they add. Throws Error kInvalidArgument for a batch that does not fit the model.
  void accumulate(const BatchType& batch) {
    const Gradients gradients = forward(batch);
    model_.backward({}, gradients);
  }

  // One step on this rank's share of the samples: those that were accumulated, and `batch`, whose
  // backward pass sends the gradients. The gradient is the mean over the samples of all ranks,
  // however they are spread. A rank that has run out of data takes part with an empty batch until
  // the score, which is that of all ranks, has no samples: then nobody has any left, and no
  // parameter was touched. Collective. Allocates nothing once it has seen batches of this size.
  // Throws Error kNotFinite when the loss, or the norm that is to be clipped, is not: the other
  // ranks' calls then throw kNotFinite too, or kAborted. kInvalidArgument as accumulate.
  ScoreType step(const BatchType& batch, const StepPlace& place) {
    const Gradients gradients = forward(batch);
    const ScoreType mine = std::exchange(mine_, {});
    core_.begin_step(mine.samples, mine.sums(), place);  // It travels while backward computes.
    model_.backward(core_.gradient_ready(), gradients);
    const auto samples = static_cast<std::size_t>(core_.finish_step(place));
    auto sums = mine.sums();
    std::ranges::copy(core_.world_sums(), sums.begin());
    return ScoreType::from_sums(sums, samples);
  }

  // This rank's score, without dropout. Not collective.
  ScoreType evaluate(const BatchType& batch) { return model_.evaluate(batch); }

  // The sum of the ranks' scores. Collective.
  ScoreType sum_over_world(const ScoreType& score) {
    auto sums = score.sums();
    const std::uint64_t samples = core_.sum_over_world(score.samples, sums);
    return ScoreType::from_sums(sums, static_cast<std::size_t>(samples));
  }

  const M& model() const noexcept { return model_; }
  std::span<const T> values(std::size_t index) const noexcept { return core_.values(index); }

  // Facts that a state must share with the ranks that it is given to, the optimizer's memory, what
  // the codec has lost, and the parameters. Between steps only: throws Error kInvalidArgument where
  // micro-batches were accumulated.
  void visit_state(StateVisitor& visitor) {
    if (mine_.samples > 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  "a replica has no state in the middle of a step: samples were accumulated");
    }
    core_.visit_state(visitor);
  }

  // A copy of it, of this rank. Not collective.
  State state() {
    return copy_state([this](StateVisitor& visitor) { visit_state(visitor); });
  }

  // Goes on from `state`, which state() of the same rank gave: in a program with the same model,
  // options, codec and world, the next steps have the bits that they would have had. Except for
  // Codec::kInt8Stochastic: what it rounds depends on how many calls the communicator has made.
  // Collective: every rank gives a state of the same step. Throws Error kInvalidArgument, on every
  // rank, where it does not fit, with both sides; kMismatch, on every rank, where ranks were given
  // different ones, or it fits some of them. Nothing has been changed then. What collectives throw.
  void give_state(const State& state) {
    core_.give_state(state, [this](StateVisitor& visitor) { visit_state(visitor); });
  }

  // FNV-1a over the bytes of all parameters in order. Equal on all ranks between steps.
  std::uint64_t weights_hash() const noexcept { return core_.weights_hash(); }

 private:
  // The gradients hold the sum over mine_.samples, and mine_ then counts `batch` too. Returns what
  // the backward pass has to do with them.
  Gradients forward(const BatchType& batch) {
    const ScoreType score = model_.forward(batch);
    const Gradients gradients = mine_.samples > 0 ? Gradients::kAdd : Gradients::kOverwrite;
    mine_ = added(mine_, score);
    return gradients;
  }

  ReplicaCore<T> core_;
  M model_;           // Its memory is the core's.
  ScoreType mine_{};  // Of what the gradients hold, in a step that is not sent yet.
};

extern template class Replica<float>;
extern template class Replica<double>;

}  // namespace rota
