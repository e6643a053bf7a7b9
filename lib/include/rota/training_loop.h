// Has the part of a Trainer that is the same for every model: epochs, steps, and the current place
// in them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rota/agreed_steps.h>
#include <rota/communicator.h>
#include <rota/export.h>
#include <rota/rank_seconds.h>
#include <rota/replica_core.h>
#include <rota/sampler.h>
#include <rota/score_sums.h>
#include <rota/session.h>
#include <rota/training_hook.h>
#include <rota/training_session.h>
#include <rota/training_state.h>
#include <rota/training_wishes.h>

namespace rota {

struct TrainerOptions {
  std::size_t epochs = 1;
  std::size_t batch_size = 100;  // Samples of one rank in each step.
  // The number of micro-batches into which a rank cuts its batch. They run one after the other, so
  // a step needs memory for one micro-batch only. The result of the step is the same, except for
  // rounding. Only the last micro-batch communicates.
  std::size_t accumulation_steps = 1;
  // The number of steps whose batches a thread gathers ahead, 1,000 at most; 0: each batch is
  // gathered when its step begins. The results are the same. See Prefetch. The source is not called
  // after run() has returned or thrown.
  std::size_t prefetch = 0;
  // 0: all samples are shuffled together. Otherwise they are shuffled by windows of so many samples
  // over the shards of the training set, for data that does not fit in memory. See WindowedOrder.
  std::size_t shuffle_window = 0;
  std::uint64_t seed = 1;  // For the initial parameters, the order of samples and dropout.
  OptimizerOptions optimizer;
  // Over the training run, the learning rate falls linearly to this fraction of its first value. 1:
  // constant.
  double final_learning_rate_factor = 1;
  double max_gradient_norm = 0;  // Of the mean gradient, see ReplicaOptions. 0: no clipping.
  BucketOptions buckets;
  SessionOptions session;  // Checkpoints.
};

// Returns the number of samples in the largest micro-batch of a batch; 0 if accumulation_steps is
// 0.
ROTA_EXPORT std::size_t largest_micro_batch(const TrainerOptions& options) noexcept;

// The facts about a data set that ranks compare.
struct SampleFacts {
  std::size_t count = 0;
  std::string digest;
  std::vector<std::size_t> shards;  // See SampleSource.
};

enum class EvaluatedSet : std::uint8_t { kTest, kValidation };

// Trainer uses this class; Trainer has the replica, the batches and the hooks.
class ROTA_EXPORT TrainingLoop {
 public:
  // `sum_count` is the number of sums in a score. `communicator` is borrowed. Throws Error
  // kInvalidArgument as Trainer does.
  TrainingLoop(Communicator& communicator, const TrainerOptions& options, const SampleFacts& train,
               const SampleFacts& test, std::size_t sum_count);
  virtual ~TrainingLoop();
  TrainingLoop(const TrainingLoop&) = delete;
  TrainingLoop& operator=(const TrainingLoop&) = delete;

 protected:
  const TrainerOptions& options() const noexcept { return options_; }
  ReplicaOptions replica_options() const;
  bool is_chief() const { return communicator_.rank() == 0; }
  // From now on, the loop fulfils what `hook` asks for. `session` also saves and restores.
  void heed(Wisher& hook) { wishers_.push_back(&hook); }
  void heed(TrainingSession& session);
  // Collective. Throws Error kMismatch if ranks have different sets.
  void set_validation_facts(const SampleFacts& facts);
  // Makes the session of TrainerOptions::session. Returns null if the session would save nothing.
  std::unique_ptr<TrainingSession> make_session() const;
  BasicEndReport<ScoreSums> run_loop();
  void visit_place(StateVisitor& visitor);
  // Visits the pieces of one hook. If the hook fails, throws Error with a text that says so.
  static void visit_hook(StateVisitor& visitor, bool is_chiefs, const StateVisit& hook);
  void give_state_to(const State& state, const StateVisit& visit);
  // Call it while the exception of the hook is handled.
  void abort_for_hook();

 private:
  virtual void visit_run(StateVisitor& visitor) = 0;
  // Announces this rank's samples in a step, which are borrowed until the next call; `step` is the
  // index of the step since the start of the training run.
  virtual void expect_step(std::span<const std::uint64_t> samples, std::uint64_t step) = 0;
  // After this call, none of them is gathered any more.
  virtual void forget_expected_steps() noexcept = 0;
  // Takes the first announced step that was not taken yet. Returns the score of all ranks.
  virtual ScoreSums take_step(const StepPlace& place) = 0;
  // The sums of StepPlace::more_sums of that step.
  virtual std::span<const double> world_more_sums() = 0;
  virtual double waited_seconds() const = 0;  // See Replica.
  // Returns this rank's score of these samples of the set.
  virtual ScoreSums evaluate_some(EvaluatedSet set, std::span<const std::uint64_t> samples) = 0;
  virtual ScoreSums sum_over_world(const ScoreSums& mine) = 0;
  virtual std::uint64_t weights_hash() const = 0;
  virtual void tell_of_begin(const BeginReport& report) = 0;
  virtual void tell_of_step(const BasicStepReport<ScoreSums>& report) = 0;
  virtual void tell_of_evaluation(const BasicEvaluationReport<ScoreSums>& report) = 0;
  virtual void tell_of_epoch(const BasicEpochReport<ScoreSums>& report) = 0;
  virtual void tell_of_checkpoint(const CheckpointReport& report) = 0;
  virtual void tell_of_end(const BasicEndReport<ScoreSums>& report) = 0;
  virtual void tell_of_failure(const std::string& first_cause) noexcept = 0;

  // The place in the training run, between two steps.
  struct Place {
    std::uint64_t epoch = 1;           // The epoch under way, or the next.
    std::uint64_t samples = 0;         // Done in this epoch by all ranks.
    std::uint64_t cut_at = 0;          // From this sample on, steps have world_batch samples.
    std::uint64_t world_batch = 0;     // Samples of such a step on all ranks together.
    std::uint64_t epoch_steps = 0;     // Done in this epoch.
    std::uint64_t steps = 0;           // Done since the start.
    std::uint64_t samples_in_all = 0;  // Done since the start by all ranks.
    std::vector<double> sums;          // The epoch's score so far, the sample count last.
    std::vector<double> test_sums;     // The score of the last evaluation, the sample count last.
    double learning_rate_factor = 1;   // What hooks have asked for.
    std::array<double, 2> seconds{};   // Training time: in total, and before this epoch.
  };

  Place place_at_start() const;
  std::uint64_t world_batch() const { return options_.batch_size * communicator_.world_size(); }
  void require_step_at(const Place& place) const;
  void begin();
  BasicEndReport<ScoreSums> run_epochs();
  bool train_epoch(AgreedSteps& steps);
  void expect_steps();
  StepPlace next_step() const;
  void finish_step(const ScoreSums& score, const StepPlace& place);
  bool evaluate(AgreedSteps& steps);
  bool score_set(EvaluatedSet set, AgreedSteps& steps, std::vector<double>& sums);
  void finish_epoch(BasicEpochReport<ScoreSums>& report);
  void end(BasicEndReport<ScoreSums>& report);
  void fail(const std::string& first_cause) noexcept;

  void forget_wishes() noexcept;
  void take_wishes_for_step();
  RankSecondsCounter::Reading seconds_now() const;
  void add_rank_seconds();
  std::span<const RankSeconds> world_rank_seconds();
  void fulfil_step_wishes();
  void agree_between_epochs();
  std::vector<CheckpointMark> take_marks(bool is_best_agreed);
  std::string shared_stop_reason();
  void report_checkpoints();

  Communicator& communicator_;
  TrainerOptions options_;
  SampleFacts train_;
  SampleFacts test_;
  SampleFacts validation_;  // 0 samples: there is none.
  std::size_t sum_count_;
  ShardedSampler sampler_;
  std::vector<std::uint64_t> evaluation_order_;  // 0, 1, 2, …
  Place place_;
  std::uint64_t expected_samples_ = 0;   // Of this epoch, in steps that are done or announced.
  std::uint64_t expected_steps_ = 0;     // The same since the start.
  std::vector<double> epoch_sums_;       // Sums of the latest epoch.
  std::vector<double> validation_sums_;  // Of its evaluation, the sample count last.
  bool goes_on_ = false;                 // The next run_loop() continues from a given state.

  std::vector<Wisher*> wishers_;        // Hooks and the session.
  TrainingSession* session_ = nullptr;  // Null: nothing is saved.
  bool is_stop_agreed_ = false;         // Because of a wish.
  std::vector<double> step_sums_;       // Of this rank, for StepPlace::more_sums.
  std::string newest_checkpoint_;       // Its path; empty: there is none.
  RankSecondsCounter rank_seconds_counter_;
  bool has_rank_seconds_ = false;          // Whether the latest due step has them.
  std::uint64_t rank_seconds_every_ = 0;   // Steps; 0: no hook wants them.
  std::vector<RankSeconds> rank_seconds_;  // Of the latest step that has them.
};

}  // namespace rota
