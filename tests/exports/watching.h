// A Trainer whose curves a test watches, and hooks that keep scores and interrupt.
#pragma once
#include <rota/summaries_hook.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <rota/trainer.h>

#include "exports/shown_curve.h"
#include "training/thread_ranks.h"

namespace rota::testing {

inline const Dataset kWatched = small_dataset(60);  // 3 steps per epoch with batches of 20.
inline const Dataset kWatchedValidation = small_dataset(25);
inline const SummariesOptions kEverySecond{.every_steps = 2};

inline TrainerOptions watched_options() {
  TrainerOptions options;
  options.epochs = 3;
  options.batch_size = 20;
  options.optimizer = Sgd{.learning_rate = 0.1};
  options.final_learning_rate_factor = 0;
  return options;
}

// Trains alone.
class Watching {
 public:
  explicit Watching(TrainingHook& hook, std::size_t epochs = 3)
      : trainer_(alone_, Model<float>({6, 6, 1}, {dense(4)}), kWatched, kWatched,
                 with_epochs(epochs)) {
    trainer_.add_chief_hook(hook);
  }
  Trainer<float>& trainer() { return trainer_; }

 private:
  static TrainerOptions with_epochs(std::size_t epochs) {
    TrainerOptions options = watched_options();
    options.epochs = epochs;
    return options;
  }
  Communicator alone_{CommunicatorOptions{}};
  Trainer<float> trainer_;
};

class ScoreRecorder : public TrainingHook {
 public:
  void on_step(const StepReport& report) override { steps.push_back(report.score); }
  void on_evaluation(const EvaluationReport& report) override {
    evaluations.push_back(report.score);
  }
  std::vector<Score> steps;
  std::vector<Score> evaluations;
};

// Keeps the state after a step, and fails after a later step or in an evaluation after it.
class Interruption : public TrainingHook {
 public:
  Interruption(std::uint64_t save, std::uint64_t fail, bool in_evaluation)
      : save_(save), fail_(fail), in_evaluation_(in_evaluation) {}
  void on_step(const StepReport& report) override {
    if (report.steps == save_) state = trainer->state();
    if (report.steps == fail_ && !in_evaluation_) throw std::runtime_error("interrupted");
  }
  void on_evaluation(const EvaluationReport& report) override {
    if (report.steps == fail_ && in_evaluation_) throw std::runtime_error("interrupted");
  }
  Trainer<float>* trainer = nullptr;
  State state;

 private:
  std::uint64_t save_;
  std::uint64_t fail_;
  bool in_evaluation_;
};

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace rota::testing
