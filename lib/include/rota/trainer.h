// The training loop: epochs of steps over a sharded data set, with evaluation and hooks.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rota/communicator.h>
#include <rota/dataset.h>
#include <rota/export.h>
#include <rota/replica.h>
#include <rota/trainable.h>
#include <rota/training_hook.h>
#include <rota/training_loop.h>

namespace rota {

// Some samples of a data set, lent for a call.
struct SampleRun {
  std::span<const std::uint64_t> samples;  // Their positions in the data set.
  std::uint64_t seed = 0;                  // Of the training, and
  std::uint64_t step = 0;                  // since its start: for what is random in a step.
};

// A data set as a Trainer sees it. `B` is the batch that its model takes.
template <class B>
struct SampleSource {
  std::size_t count = 0;
  std::string digest;  // Ranks compare it: a hash of the labels, a version of the file.
  // Up to the options' batch size; what the batch refers to is lent until the next call.
  std::function<B(const SampleRun&)> gather;
};

// Of labelled images. `data` is lent, and must outlive what is returned.
// Throws Error kInvalidArgument where it does not fit the model: `name` is in the text.
template <class T>
ROTA_EXPORT SampleSource<Batch<T>> samples_of(const Dataset& data, const Model<T>& model,
                                              std::size_t largest_batch, const std::string& name);

extern template SampleSource<Batch<float>> samples_of(const Dataset&, const Model<float>&,
                                                      std::size_t, const std::string&);
extern template SampleSource<Batch<double>> samples_of(const Dataset&, const Model<double>&,
                                                       std::size_t, const std::string&);

// T is float or double; M is a model of them, see <rota/trainable.h>.
template <class T, Trainable M = Model<T>>
class ROTA_EXPORT Trainer : private TrainingLoop {
 public:
  using BatchType = typename M::BatchType;
  using ScoreType = typename M::ScoreType;
  using Hook = BasicTrainingHook<ScoreType>;

  // `communicator` is lent, and must outlive this; so must what `train` and `test` refer to, which
  // other replicas of the process may read too. Collective: every rank makes one.
  // Throws Error kInvalidArgument when an option makes no sense (a batch size of 0, or more than a
  // rank's share of `train`); kMismatch as Replica.
  Trainer(Communicator& communicator, M&& model, SampleSource<BatchType> train,
          SampleSource<BatchType> test, const TrainerOptions& options)
      : TrainingLoop(communicator, options, {train.count, train.digest}, {test.count, test.digest},
                     kSumCount<ScoreType>),
        replica_(communicator, std::move(model), replica_options()),
        train_(std::move(train)),
        test_(std::move(test)) {}

  // Of a classifier of images. Throws Error kInvalidArgument also where the data does not fit it.
  Trainer(Communicator& communicator, M model, const Dataset& train, const Dataset& test,
          const TrainerOptions& options) requires std::same_as<M, Model<T>>
      : Trainer(communicator, std::move(model),
                samples_of(train, model, largest_micro_batch(options), "training"),
                samples_of(test, model, options.batch_size, "test"), options) {}

  // `hook` is lent, and called in the order of addition.
  void add_hook(Hook& hook) { hooks_.push_back(&hook); }

  // Trains, and evaluates `test` on all ranks together after each epoch. Collective.
  // When rotarun is asked to end the job, it returns early, with EndReport::stopped: all ranks stop
  // after the same step, and call on_end, so that a hook can save what has been learnt. What the
  // program does then, rotarun waits for until --grace is over. Called again, it stops at once.
  // Otherwise it starts from the first epoch, or from where the state is that it was given.
  // Throws Error kNotFinite when a loss is, what a hook throws, and what collectives throw.
  BasicEndReport<ScoreType> run() { return end_of(run_loop()); }

  Replica<T, M>& replica() noexcept { return replica_; }

  // The place in the training, the replica's pieces, and those of the hooks, in the order of
  // addition. Between steps only: before or after run(), or in a hook.
  void visit_state(StateVisitor& visitor) {
    visit_place(visitor);
    replica_.visit_state(visitor);
    for (Hook* hook : hooks_) hook->visit_state(visitor);
  }

  // A copy of it, of this rank. Not collective.
  State state() {
    return copy_state([this](StateVisitor& visitor) { visit_state(visitor); });
  }

  // Goes on from `state` when run() is called next. The batches that come are those that would have
  // come: the place is a count of samples in the order of the epoch. Not while run() is under way.
  // Otherwise as Replica::give_state; and kInvalidArgument, with nothing changed, where no step of
  // this training begins at the place.
  void give_state(const State& state) {
    give_state_to(state, [this](StateVisitor& visitor) { visit_state(visitor); });
  }

 private:
  // In micro-batches, of which the last one sends the gradients of all.
  ScoreSums take_step(std::span<const std::uint64_t> samples, std::uint64_t step,
                      const StepPlace& place) override {
    for (std::size_t part = 0;; ++part) {
      const Slice slice = slice_of(samples.size(), part, options().accumulation_steps);
      const BatchType batch =
          train_.gather({samples.subspan(slice.offset, slice.count), options().seed, step});
      if (part + 1 == options().accumulation_steps) return sums_of(replica_.step(batch, place));
      replica_.accumulate(batch);
    }
  }
  ScoreSums evaluate_some(std::span<const std::uint64_t> samples) override {
    return sums_of(replica_.evaluate(test_.gather({.samples = samples})));
  }
  ScoreSums sum_over_world(const ScoreSums& mine) override {
    return sums_of(replica_.sum_over_world(score_from(mine)));
  }
  std::uint64_t weights_hash() const override { return replica_.weights_hash(); }
  void tell_of_step(const BasicStepReport<ScoreSums>& report) override {
    tell(&Hook::on_step, BasicStepReport<ScoreType>{report.epoch, report.epoch_count, report.step,
                                                    report.step_count, score_from(report.score),
                                                    report.samples, report.train_seconds});
  }
  void tell_of_epoch(const BasicEpochReport<ScoreSums>& report) override {
    tell(&Hook::on_epoch,
         BasicEpochReport<ScoreType>{report.epoch, report.epoch_count, report.step_count,
                                     score_from(report.train), score_from(report.test),
                                     report.epoch_seconds, report.train_seconds});
  }
  void tell_of_end(const BasicEndReport<ScoreSums>& report) override {
    tell(&Hook::on_end, end_of(report));
  }

  static BasicEndReport<ScoreType> end_of(const BasicEndReport<ScoreSums>& report) {
    return {report.world_size,       report.transport, report.steps,       report.stopped,
            score_from(report.test), report.seconds,   report.weights_hash};
  }
  static ScoreType score_from(const ScoreSums& score) {
    auto sums = ScoreType{}.sums();
    std::ranges::copy(score.sums, sums.begin());
    return ScoreType::from_sums(sums, static_cast<std::size_t>(score.samples));
  }
  // Lent until the next call.
  ScoreSums sums_of(const ScoreType& score) {
    sums_ = score.sums();
    return {sums_, score.samples};
  }

  // A hook that fails on one rank must not leave the others waiting for it.
  template <class Report>
  void tell(void (Hook::*event)(const Report&), const Report& report) {
    try {
      for (Hook* hook : hooks_) (hook->*event)(report);
    } catch (const std::exception& error) {
      abort_for_hook(error);
      throw;
    }
  }

  Replica<T, M> replica_;
  SampleSource<BatchType> train_;
  SampleSource<BatchType> test_;
  std::vector<Hook*> hooks_;
  decltype(std::declval<ScoreType>().sums()) sums_{};  // Of the latest score.
};

extern template class Trainer<float>;
extern template class Trainer<double>;

}  // namespace rota
