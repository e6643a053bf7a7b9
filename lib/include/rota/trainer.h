// The training loop: epochs of steps over a sharded data set, with evaluation and hooks.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <rota/agreed_steps.h>
#include <rota/communicator.h>
#include <rota/dataset.h>
#include <rota/export.h>
#include <rota/replica.h>
#include <rota/sampler.h>
#include <rota/training_hook.h>
#include <rota/training_state.h>

namespace rota {

struct TrainerOptions {
  std::size_t epochs = 1;
  std::size_t batch_size = 100;  // A rank's, in each step.
  // Micro-batches that a rank takes its batch in, one after the other: that much less memory, and
  // the same step but for rounding. Only the last one communicates.
  std::size_t accumulation_steps = 1;
  std::uint64_t seed = 1;  // Of the initial parameters, the order of samples and dropout.
  OptimizerOptions optimizer;
  // What is left of the learning rate at the end; it falls in a straight line. 1: constant.
  double final_learning_rate_factor = 1;
  double max_gradient_norm = 0;  // Of the mean gradient, see ReplicaOptions. 0: no clipping.
  BucketOptions buckets;
};

// T is float or double.
template <class T>
class ROTA_EXPORT Trainer {
 public:
  // `communicator`, `train` and `test` are lent, and must outlive this; other replicas of the
  // process may use the same data. Collective: every rank makes one.
  // Throws Error kInvalidArgument when the data does not fit the model, or an option makes no sense
  // (a batch size of 0, or more than a rank's share of `train`); kMismatch as Replica.
  Trainer(Communicator& communicator, Model<T> model, const Dataset& train, const Dataset& test,
          const TrainerOptions& options);

  // `hook` is lent, and called in the order of addition.
  void add_hook(TrainingHook& hook) { hooks_.push_back(&hook); }

  // Trains, and evaluates `test` on all ranks together after each epoch. Collective.
  // When rotarun is asked to end the job, it returns early, with EndReport::stopped: all ranks stop
  // after the same step, and call on_end, so that a hook can save what has been learnt. What the
  // program does then, rotarun waits for until --grace is over. Called again, it stops at once.
  // Otherwise it starts from the first epoch, or from where the state is that it was given.
  // Throws Error kNotFinite when a loss is, what a hook throws, and what collectives throw.
  EndReport run();

  Replica<T>& replica() noexcept { return replica_; }

  // The place in the training, the replica's pieces, and those of the hooks, in the order of
  // addition. Between steps only: before or after run(), or in a hook.
  void visit_state(StateVisitor& visitor);

  // A copy of it, of this rank. Not collective.
  State state();

  // Goes on from `state` when run() is called next. The batches that come are those that would have
  // come: the place is a count of samples in the order of the epoch. Not while run() is under way.
  // Otherwise as Replica::give_state; and kInvalidArgument, with nothing changed, where no step of
  // this training begins at the place.
  void give_state(const State& state);

 private:
  // How far the training has come, between steps.
  struct Place {
    std::uint64_t epoch = 1;           // That is under way, or comes next.
    std::uint64_t samples = 0;         // Of its order, by all ranks.
    std::uint64_t steps = 0;           // Since the start,
    std::uint64_t samples_in_all = 0;  // trained on by all ranks.
    std::array<double, 3> score{};     // Of the epoch so far: loss, correct, samples.
    std::array<double, 2> seconds{};   // Of training: in all, and before this epoch.
  };

  void require_step_at(const Place& place) const;
  bool train_epoch(AgreedSteps& steps, EpochReport& report);
  void tell_of_step(const Score& score, std::size_t step);
  Score train_step(const StepPlace& place);
  Score evaluate(std::size_t epoch);
  template <class Report>
  void tell(void (TrainingHook::*event)(const Report&), const Report& report);

  Communicator& communicator_;
  const Dataset& test_;
  TrainerOptions options_;
  ShardedSampler sampler_;
  Replica<T> replica_;
  BatchBuffer<T> train_batch_;
  BatchBuffer<T> test_batch_;
  std::vector<std::uint64_t> test_order_;  // 0, 1, 2, …
  std::vector<TrainingHook*> hooks_;
  Place place_;
  bool goes_on_ = false;  // From a state that was given.
};

extern template class Trainer<float>;
extern template class Trainer<double>;

}  // namespace rota
