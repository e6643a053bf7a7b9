// Runs the training loop: epochs of steps over a sharded data set, with evaluation and hooks.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rota/communicator.h>
#include <rota/dataset.h>
#include <rota/export.h>
#include <rota/micro_batches.h>
#include <rota/replica.h>
#include <rota/source.h>
#include <rota/trainable.h>
#include <rota/training_hook.h>
#include <rota/training_loop.h>
#include <rota/training_session.h>

namespace rota {

// T is float or double; M is a model of T, see <rota/trainable.h>.
template <class T, Trainable M = Model<T>>
class ROTA_EXPORT Trainer : private TrainingLoop {
 public:
  using BatchType = typename M::BatchType;
  using ScoreType = typename M::ScoreType;
  using Hook = BasicTrainingHook<ScoreType>;

  // `communicator` and the data that `train` and `test` refer to are borrowed, and must outlive
  // this object; other replicas of the process may read that data too. Collective: every rank must
  // make a Trainer. Throws Error kInvalidArgument if an option makes no sense (a batch size of 0,
  // or more than train.count / world_size); kMismatch as Replica does.
  Trainer(Communicator& communicator, M&& model, SampleSource<BatchType> train,
          SampleSource<BatchType> test, const TrainerOptions& options)
      : TrainingLoop(communicator, options, {train.count, train.digest, train.shards},
                     {test.count, test.digest, {}}, kSumCount<ScoreType>),
        replica_(communicator, std::move(model), replica_options()),
        batches_(std::move(train), options),
        test_(std::move(test)),
        own_session_(make_session()) {
    if (own_session_) set_session(*own_session_);
  }

  // Makes a Trainer for a classifier of images. Also throws Error kInvalidArgument if the data does
  // not fit the model.
  Trainer(Communicator& communicator, M model, const DatasetView& train, const DatasetView& test,
          const TrainerOptions& options) requires std::same_as<M, Model<T>>
      : Trainer(communicator, std::move(model),
                samples_of(train, model, largest_micro_batch(options), "training"),
                samples_of(test, model, options.batch_size, "test"), options) {}

  // `hook` is borrowed. Hooks are called in the order in which they were added. A chief's hook is
  // called on rank 0 alone: every rank may add one.
  void add_hook(Hook& hook) { add({&hook, false}); }
  void add_chief_hook(Hook& hook) {
    if (is_chief()) add({&hook, true});
  }

  // Call it before run(). After each epoch, `validation` is then evaluated, too. Hooks that choose
  // by evaluations, such as EarlyStopping, see its score instead of the test set's. Its data is
  // borrowed, as that of the constructor. Collective: every rank must call it. Throws Error
  // kMismatch if ranks have different sets; kInvalidArgument if the set is empty or does not fit.
  void set_validation(SampleSource<BatchType> validation) {
    set_validation_facts({validation.count, validation.digest});
    validation_ = std::move(validation);
  }
  void set_validation(const DatasetView& validation) requires std::same_as<M, Model<T>> {
    set_validation(samples_of(validation, replica_.model(), options().batch_size, "validation"));
  }

  // Takes the place of TrainerOptions::session. Is borrowed. Every rank must have one.
  void set_session(TrainingSession& session) {
    replica_.set_guard(&session);
    heed(session);
  }

  // Trains. After each epoch, all ranks together evaluate the test set, and the validation set if
  // there is one. Collective: every rank must call it. If a hook asks for it, or rotarun is asked
  // to end the job, run() returns early, with EndReport::stopped: all ranks stop after the same
  // step. If rotarun was asked, it waits for the program to end, at most for --grace; another run()
  // stops immediately. Unless the job is ending, run() starts from the first epoch, or from the
  // state that was given or that the session restores. Throws Error kNotFinite if a loss or a norm
  // for clipping is not finite, what a hook or the session throws, and what collectives throw.
  BasicEndReport<ScoreType> run() { return report_from<ScoreType>(run_loop()); }

  Replica<T, M>& replica() noexcept { return replica_; }

  // Visits the place in the training run, the replica, and the hooks in their order. Only between
  // steps: before or after run(), or in a hook. If a hook throws, throws an Error that says so.
  void visit_state(StateVisitor& visitor) {
    visit_place(visitor);
    replica_.visit_state(visitor);
    for (const Added& added : hooks_) {
      visit_hook(visitor, added.is_chiefs,
                 [&added](StateVisitor& inner) { added.hook->visit_state(inner); });
    }
  }

  // Returns a copy of this rank's state. Not collective.
  State state() {
    return copy_state([this](StateVisitor& visitor) { visit_state(visitor); });
  }

  // Lets the next run() continue from `state`. Must not be called while run() is under way. Throws
  // kInvalidArgument, with nothing changed, if no step of this run begins at the place of `state`.
  // Otherwise works as Replica::give_state does.
  void give_state(const State& state) {
    give_state_to(state, [this](StateVisitor& visitor) { visit_state(visitor); });
  }

 private:
  struct Added {
    Hook* hook;
    bool is_chiefs;
  };
  void add(Added added) {
    hooks_.push_back(added);
    heed(*added.hook);
  }

  void visit_run(StateVisitor& visitor) override { visit_state(visitor); }
  void expect_step(std::span<const std::uint64_t> samples, std::uint64_t step) override {
    batches_.expect(samples, step);
  }
  void forget_expected_steps() noexcept override {
    batches_.forget();
    replica_.forget_accumulated();
  }
  // Takes the samples in micro-batches; the last micro-batch sends the gradients of all of them.
  ScoreSums take_step(const StepPlace& place) override {
    for (std::size_t left = options().accumulation_steps; left > 1; --left) {
      replica_.accumulate(batches_.next());
    }
    return sums_of(replica_.step(batches_.next(), place));
  }
  ScoreSums evaluate_some(EvaluatedSet set, std::span<const std::uint64_t> samples) override {
    SampleSource<BatchType>& source = set == EvaluatedSet::kTest ? test_ : validation_;
    return sums_of(replica_.evaluate(source.gather({.samples = samples})));
  }
  ScoreSums sum_over_world(const ScoreSums& mine) override {
    return sums_of(replica_.sum_over_world(score_from<ScoreType>(mine)));
  }
  std::span<const double> world_more_sums() override { return replica_.world_more_sums(); }
  double waited_seconds() const override { return replica_.waited_seconds(); }
  std::uint64_t weights_hash() const override { return replica_.weights_hash(); }
  void tell_of_begin(const BeginReport& report) override { tell(&Hook::on_begin, report); }
  void tell_of_step(const BasicStepReport<ScoreSums>& report) override {
    tell(&Hook::on_step, report_from<ScoreType>(report));
  }
  void tell_of_evaluation(const BasicEvaluationReport<ScoreSums>& report) override {
    tell(&Hook::on_evaluation, report_from<ScoreType>(report));
  }
  void tell_of_epoch(const BasicEpochReport<ScoreSums>& report) override {
    tell(&Hook::on_epoch, report_from<ScoreType>(report));
  }
  void tell_of_checkpoint(const CheckpointReport& report) override {
    tell(&Hook::on_checkpoint, report);
  }
  void tell_of_end(const BasicEndReport<ScoreSums>& report) override {
    tell(&Hook::on_end, report_from<ScoreType>(report));
  }
  void tell_of_failure(const std::string& first_cause) noexcept override {
    for (const Added& added : hooks_) added.hook->on_failure(first_cause);
  }

  // The result is valid until the next call.
  ScoreSums sums_of(const ScoreType& score) {
    sums_ = score.sums();
    return {sums_, score.samples};
  }

  // If a hook fails, aborts the communicator, so that other ranks do not wait for this rank.
  template <class Report>
  void tell(void (Hook::*event)(const Report&), const Report& report) {
    try {
      for (const Added& added : hooks_) (added.hook->*event)(report);
    } catch (...) {
      abort_for_hook();
      throw;
    }
  }

  Replica<T, M> replica_;
  MicroBatches<BatchType> batches_;  // To train on.
  SampleSource<BatchType> test_;
  SampleSource<BatchType> validation_;
  std::vector<Added> hooks_;
  decltype(std::declval<ScoreType>().sums()) sums_{};  // Sums of the latest score.
  std::unique_ptr<TrainingSession> own_session_;       // Last: its thread reads the replica.
};

extern template class Trainer<float>;
extern template class Trainer<double>;

}  // namespace rota
