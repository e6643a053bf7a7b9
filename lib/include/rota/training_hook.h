// Has the reports that a Trainer gives to its hooks while the Trainer runs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <rota/checkpoint.h>
#include <rota/export.h>
#include <rota/model.h>
#include <rota/rank_seconds.h>
#include <rota/training_state.h>
#include <rota/training_wishes.h>

namespace rota {

// Numbers are for all ranks together, not for this rank. Epochs and steps count from 1. If a
// training run goes on from a saved state, "since the start" means since its first start. S is the
// score type of the model.

struct BeginReport {
  bool fresh = true;  // Training starts with the first step; at most parameters were restored.
  // The checkpoint that was restored, or whose parameters a fresh run begins with. Empty: there is
  // none, or the state was in memory.
  std::string path;
  std::uint64_t step = 0;        // Steps done since the start.
  std::size_t epoch = 1;         // The epoch under way, or the next one.
  std::uint64_t samples = 0;     // Samples trained on since the start.
  std::size_t next_samples = 0;  // Samples of the data set in the next step.
  double train_seconds = 0;      // Of this rank since the start, without evaluation.
  std::size_t world_size = 0;
  std::size_t saved_world_size = 0;  // Of the world that saved the state.
  std::string note;                  // See Restored::note.
  std::string run;                   // See Restored::run. Empty: no checkpoints are saved.
};

template <class S>
struct BasicStepReport {
  std::size_t epoch = 0;
  std::size_t epoch_count = 0;
  std::size_t step = 0;  // In this epoch.
  std::size_t step_count = 0;
  S score;                       // Score of this step, before its update.
  std::uint64_t samples = 0;     // Samples trained on since the start.
  double train_seconds = 0;      // Since the start, without evaluation.
  std::uint64_t steps = 0;       // Steps done since the start.
  std::size_t next_samples = 0;  // Samples of the data set in the next step.
  double learning_rate = 0;      // Of this step.
  // By rank, of the steps before this one, see ask_for_rank_seconds(). Mostly empty. Valid for the
  // call.
  std::span<const RankSeconds> rank_seconds{};
};

template <class S>
struct BasicEvaluationReport {
  std::size_t epoch = 0;    // The evaluation comes after this epoch.
  std::uint64_t steps = 0;  // Steps done since the start.
  S score;                  // Of the whole validation set; without one, of the whole test set.
  double seconds = 0;
  bool is_validation = false;
};

template <class S>
struct BasicEpochReport {
  std::size_t epoch = 0;
  std::size_t epoch_count = 0;
  std::size_t step_count = 0;
  S train;                   // Score summed over the epoch's steps.
  S test;                    // Score of the whole test set, after the epoch.
  double epoch_seconds = 0;  // Without evaluation.
  double train_seconds = 0;  // Since the start, without evaluation.
  S validation;              // Score of the whole validation set; 0 samples if there is none.
};

template <class S>
struct BasicEndReport {
  std::size_t world_size = 0;
  std::string transport;
  std::size_t steps = 0;           // In all epochs, since the start.
  bool stopped = false;            // All ranks agreed to stop before the last step.
  S test;                          // Score of the last evaluation; 0 samples if there was none.
  double seconds = 0;              // Duration of the whole run, with evaluation.
  std::uint64_t weights_hash = 0;  // Equal on all ranks.
  std::string stop_reason;         // Why a hook asked all ranks to stop; empty: no hook did.
  std::string checkpoint;          // The path of the newest checkpoint; empty: there is none.
};

// The thread that trains calls the hook. An exception of a hook ends the training run on every
// rank.
template <class S>
class ROTA_EXPORT BasicTrainingHook : public Wisher {
 public:
  virtual void on_begin(const BeginReport&) {}  // Called before the first step.
  virtual void on_step(const BasicStepReport<S>&) {}
  virtual void on_evaluation(const BasicEvaluationReport<S>&) {}  // Called before on_epoch.
  virtual void on_epoch(const BasicEpochReport<S>&) {}
  // Called for each checkpoint that is complete. Rank 0 prints failed saves to stderr.
  virtual void on_checkpoint(const CheckpointReport&) {}
  virtual void on_end(const BasicEndReport<S>&) {}

  // Called at most once in a run, when this rank learns of a failure: of its own, of another rank
  // or of a hook. A hook may have had on_end already, if another hook has failed then. Files can be
  // flushed and closed here. The hook must not wait for other ranks.
  virtual void on_failure(const std::string& /*first_cause*/) noexcept {}

  // Override this function in a hook whose state is needed to continue a training run: the pieces
  // of the hook are part of the Trainer's state. The hook chooses the names of its pieces. Pieces
  // that differ between ranks must be StateOwner::kRank. Pieces of a hook of add_chief_hook() are
  // kRank anyway. kStrict pieces become kIfThere: if a checkpoint lacks them, the hook begins anew,
  // with the values that it has, and the note of BeginReport says so.
  virtual void visit_state(StateVisitor&) {}
};

// For a classifier.
using StepReport = BasicStepReport<Score>;
using EvaluationReport = BasicEvaluationReport<Score>;
using EpochReport = BasicEpochReport<Score>;
using EndReport = BasicEndReport<Score>;
using TrainingHook = BasicTrainingHook<Score>;

}  // namespace rota
