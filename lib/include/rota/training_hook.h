// What a Trainer tells about itself while it runs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include <rota/export.h>
#include <rota/model.h>
#include <rota/training_state.h>

namespace rota {

// Numbers are the whole world's, not this rank's. Epochs and steps are counted from 1.
struct StepReport {
  std::size_t epoch = 0;
  std::size_t epoch_count = 0;
  std::size_t step = 0;  // In this epoch.
  std::size_t step_count = 0;
  Score score;                // Of this step, before its update.
  std::uint64_t samples = 0;  // Trained on since the start.
  double train_seconds = 0;   // Since the start, without evaluation.
};

struct EpochReport {
  std::size_t epoch = 0;
  std::size_t epoch_count = 0;
  std::size_t step_count = 0;
  Score train;               // Summed over the epoch's steps.
  Score test;                // Over all of the test set, after the epoch.
  double epoch_seconds = 0;  // Without evaluation.
  double train_seconds = 0;  // The same since the start.
};

struct EndReport {
  std::size_t world_size = 0;
  std::string transport;
  std::size_t steps = 0;           // In all epochs.
  bool stopped = false;            // By agreement, before the last one. The same on all ranks.
  Score test;                      // Of the last evaluation; no samples where there was none.
  double seconds = 0;              // All of the run, evaluation included.
  std::uint64_t weights_hash = 0;  // Equal on all ranks.
};

// Called on the thread that trains. An exception ends the training, on every rank.
class ROTA_EXPORT TrainingHook {
 public:
  virtual ~TrainingHook() = default;
  virtual void on_step(const StepReport&) {}
  virtual void on_epoch(const EpochReport&) {}
  virtual void on_end(const EndReport&) {}

  // For a hook that remembers what a training has to go on with: its pieces are a part of the
  // Trainer's state. Their names are its own. They are StateOwner::kRank where the ranks' hooks
  // differ.
  virtual void visit_state(StateVisitor&) {}
};

}  // namespace rota
