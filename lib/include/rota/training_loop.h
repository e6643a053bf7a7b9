// The part of a Trainer that is the same for every model: epochs, steps, the place in them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include <rota/agreed_steps.h>
#include <rota/communicator.h>
#include <rota/export.h>
#include <rota/replica_core.h>
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

// The samples of the largest of them, as accumulation_steps cuts a batch; 0 where it is 0.
ROTA_EXPORT std::size_t largest_micro_batch(const TrainerOptions& options) noexcept;

// The sums of a score, and its samples; the sums are lent for a call.
struct ScoreSums {
  std::span<const double> sums;
  std::uint64_t samples = 0;
};

// A data set as the ranks compare it.
struct SampleFacts {
  std::size_t count = 0;
  std::string digest;
};

// For a Trainer to use, which has the replica, the batches and the hooks.
class ROTA_EXPORT TrainingLoop {
 public:
  // `sum_count`: of a score. `communicator` is lent. Throws Error kInvalidArgument as Trainer.
  TrainingLoop(Communicator& communicator, const TrainerOptions& options, const SampleFacts& train,
               const SampleFacts& test, std::size_t sum_count);
  virtual ~TrainingLoop();
  TrainingLoop(const TrainingLoop&) = delete;
  TrainingLoop& operator=(const TrainingLoop&) = delete;

 protected:
  const TrainerOptions& options() const noexcept { return options_; }
  ReplicaOptions replica_options() const;
  BasicEndReport<ScoreSums> run_loop();
  void visit_place(StateVisitor& visitor);
  void give_state_to(const State& state, const StateVisit& visit);
  void abort_for_hook(const std::exception& error);

 private:
  // A step with this rank's `samples`, the `step`-th since the start. The score is all ranks'.
  virtual ScoreSums take_step(std::span<const std::uint64_t> samples, std::uint64_t step,
                              const StepPlace& place) = 0;
  // This rank's score of these samples of the test set.
  virtual ScoreSums evaluate_some(std::span<const std::uint64_t> samples) = 0;
  virtual ScoreSums sum_over_world(const ScoreSums& mine) = 0;
  virtual std::uint64_t weights_hash() const = 0;
  virtual void tell_of_step(const BasicStepReport<ScoreSums>& report) = 0;
  virtual void tell_of_epoch(const BasicEpochReport<ScoreSums>& report) = 0;
  virtual void tell_of_end(const BasicEndReport<ScoreSums>& report) = 0;

  // How far the training has come, between steps.
  struct Place {
    std::uint64_t epoch = 1;           // That is under way, or comes next.
    std::uint64_t samples = 0;         // Of its order, by all ranks.
    std::uint64_t steps = 0;           // Since the start,
    std::uint64_t samples_in_all = 0;  // trained on by all ranks.
    std::vector<double> sums;          // Of the epoch's score so far, the samples last.
    std::array<double, 2> seconds{};   // Of training: in all, and before this epoch.
  };

  static Place place_at_start(std::size_t sum_count);
  void require_step_at(const Place& place) const;
  bool train_epoch(AgreedSteps& steps, BasicEpochReport<ScoreSums>& report);
  void finish_step(const ScoreSums& score, std::size_t step);
  ScoreSums evaluate(std::size_t epoch);

  Communicator& communicator_;
  TrainerOptions options_;
  SampleFacts train_;
  SampleFacts test_;
  std::size_t sum_count_;
  ShardedSampler sampler_;
  std::vector<std::uint64_t> test_order_;  // 0, 1, 2, …
  std::vector<double> test_sums_;          // Of the latest evaluation.
  Place place_;
  std::vector<double> epoch_sums_;  // Of the latest epoch.
  bool goes_on_ = false;            // From a state that was given.
};

}  // namespace rota
