// A training run of one rank in this process, with real checkpoints, and evaluators of it.
#pragma once
#include <rota/evaluator.h>

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <rota/end_signal.h>
#include <rota/trainer.h>

#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota::testing {

using Steps = std::vector<std::uint64_t>;

inline const Dataset kTrained = small_dataset(60);
inline const Dataset kEvaluated = small_dataset(25);

inline Model<float> evaluated_model() { return Model<float>({6, 6, 1}, {dense(4)}); }

class EvaluatedRun : public ::testing::Test {
 protected:
  std::filesystem::path run() const { return folder_.path() / "run"; }
  std::filesystem::path checkpoint(const std::string& step) const {
    return run() / (std::string(12 - step.size(), '0') + step);
  }

  // Trains until `epochs` of 6 steps are done, and saves every 3 steps.
  void train(std::size_t epochs) {
    Communicator alone{CommunicatorOptions{}};
    TrainerOptions options;
    options.epochs = epochs;
    options.batch_size = 10;
    options.optimizer = Sgd{.learning_rate = 0.1};
    options.session.checkpoints = {
        .folder = run(), .every_steps = 3, .keep = 100, .asynchronous = false};
    Trainer<float> trainer(alone, evaluated_model(), kTrained, kTrained, options);
    const EndReport end = trainer.run();
    auto all = samples_of(kEvaluated, trainer.replica().model(), kEvaluated.count(), "test");
    std::vector<std::uint64_t> samples(all.count);
    std::iota(samples.begin(), samples.end(), std::uint64_t{0});
    by_rank_ = trainer.replica().evaluate(all.gather({.samples = samples}));
    write_safetensors(folder_.path() / "model.safetensors", trainer.replica().tensors(),
                      {{"step", std::to_string(end.steps)}});
  }

  // Makes ended.json that of an earlier job: older than this process.
  void make_end_old() const {
    const auto end = run() / "ended.json";
    std::filesystem::last_write_time(end,
                                     std::filesystem::last_write_time(end) - std::chrono::hours(1));
  }

  EvaluatorOptions options() const {
    return {
        .folder = run(), .logs = logs_, .batch_size = 10, .interval = std::chrono::milliseconds(5)};
  }
  Evaluator<float> make() const { return {evaluated_model(), kEvaluated, options()}; }

  // Runs an evaluator to its end. Sets scores_.
  EvaluatorReport evaluate() {
    scores_.clear();
    Evaluator<float> evaluator(evaluated_model(), kEvaluated, options());
    return evaluator.run([&](const CheckpointScore& score) { scores_.push_back(score); });
  }

  // Does the same, but SIGTERM comes in the first evaluation, and `before` is called before it.
  EvaluatorReport evaluate_with_sigterm(const std::function<void()>& before) {
    scores_.clear();
    const EndSignal signal;
    bool is_sent = false;
    auto source = samples_of(kEvaluated, evaluated_model(), 1, "test");
    source.gather = [&, gather = source.gather](const SampleRun& run) {
      if (run.samples.front() == 3 && !std::exchange(is_sent, true)) {
        before();
        ::kill(::getpid(), SIGTERM);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(6));
      return gather(run);
    };
    EvaluatorOptions slow = options();
    slow.batch_size = 1;
    Evaluator<float> evaluator(evaluated_model(), source, slow);
    return evaluator.run([&](const CheckpointScore& score) { scores_.push_back(score); });
  }

  Steps evaluated() const {
    Steps steps;
    for (const CheckpointScore& score : scores_) steps.push_back(score.step);
    return steps;
  }
  std::size_t line_count() const {
    std::ifstream file(run() / "evaluations.jsonl");
    std::size_t count = 0;
    for (std::string line; std::getline(file, line);) ++count;
    return count;
  }

  TemporaryFolder folder_;
  std::filesystem::path logs_;  // Of the evaluators. Empty: no curves.
  Score by_rank_;               // Of the last weights.
  std::vector<CheckpointScore> scores_;
};

}  // namespace rota::testing
