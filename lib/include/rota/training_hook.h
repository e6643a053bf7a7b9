// What a Trainer tells about itself while it runs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include <rota/export.h>
#include <rota/model.h>
#include <rota/training_state.h>

namespace rota {

// Numbers are the whole world's, not this rank's. Epochs and steps are counted from 1. S is what
// the model has for a score.
template <class S>
struct BasicStepReport {
  std::size_t epoch = 0;
  std::size_t epoch_count = 0;
  std::size_t step = 0;  // In this epoch.
  std::size_t step_count = 0;
  S score;                    // Of this step, before its update.
  std::uint64_t samples = 0;  // Trained on since the start.
  double train_seconds = 0;   // Since the start, without evaluation.
};

template <class S>
struct BasicEpochReport {
  std::size_t epoch = 0;
  std::size_t epoch_count = 0;
  std::size_t step_count = 0;
  S train;                   // Summed over the epoch's steps.
  S test;                    // Over all of the test set, after the epoch.
  double epoch_seconds = 0;  // Without evaluation.
  double train_seconds = 0;  // The same since the start.
};

template <class S>
struct BasicEndReport {
  std::size_t world_size = 0;
  std::string transport;
  std::size_t steps = 0;           // In all epochs.
  bool stopped = false;            // By agreement, before the last one. The same on all ranks.
  S test;                          // Of the last evaluation; no samples where there was none.
  double seconds = 0;              // All of the run, evaluation included.
  std::uint64_t weights_hash = 0;  // Equal on all ranks.
};

// Called on the thread that trains. An exception ends the training, on every rank.
template <class S>
class ROTA_EXPORT BasicTrainingHook {
 public:
  virtual ~BasicTrainingHook() = default;
  virtual void on_step(const BasicStepReport<S>&) {}
  virtual void on_epoch(const BasicEpochReport<S>&) {}
  virtual void on_end(const BasicEndReport<S>&) {}

  // For a hook that remembers what a training has to go on with: its pieces are a part of the
  // Trainer's state. Their names are its own. They are StateOwner::kRank where the ranks' hooks
  // differ.
  virtual void visit_state(StateVisitor&) {}
};

// Of a classifier.
using StepReport = BasicStepReport<Score>;
using EpochReport = BasicEpochReport<Score>;
using EndReport = BasicEndReport<Score>;
using TrainingHook = BasicTrainingHook<Score>;

}  // namespace rota
