// Has the part of an Evaluator that is the same for every model: it finds checkpoints, reads them,
// and writes down their scores.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rota/export.h>
#include <rota/model.h>
#include <rota/score_sums.h>
#include <rota/training_loop.h>
#include <rota/values.h>

namespace rota {

struct EvaluatorOptions {
  // The folder of the training run's checkpoints. It need not be there yet. evaluations.jsonl is
  // written there.
  std::filesystem::path folder;
  std::filesystem::path logs;  // Curves for TensorBoard go to LOGS/evaluator. Empty: no curves.
  // The curves of a score's sums, in their order: each point is a sum divided by the number of
  // samples. The means in evaluations.jsonl have these names too.
  std::vector<std::string> curves = {"cost", "accuracy"};
  std::size_t batch_size = 100;
  // The set that the ranks train on. With it, a checkpoint of another one is refused, so that
  // samples are not evaluated by mistake that the ranks train on.
  std::optional<SampleFacts> training_set = {};
  std::chrono::milliseconds interval{200};  // Between two looks at the folder.
};

template <class S>
struct BasicCheckpointScore {
  std::string path;
  std::string run;          // See Restored::run. Empty for a safetensors file.
  std::uint64_t start = 0;  // Which start of the run has saved it; 0 for a safetensors file.
  std::uint64_t step = 0;   // Of a safetensors file: what its metadata "step" says, or 0.
  S score;
  double seconds = 0;  // For the evaluation.
};

using CheckpointScore = BasicCheckpointScore<Score>;  // For a classifier.

struct EvaluatorReport {
  std::uint64_t evaluated = 0;
  std::uint64_t missed = 0;   // These were gone before their turn: removed, or set aside.
  std::uint64_t damaged = 0;  // These could not be read.
  std::uint64_t left = 0;     // These were left over because of SIGTERM.
  bool has_ended = false;     // The training run has; otherwise SIGTERM has ended the evaluator.
};

// Evaluator uses this class; Evaluator has the model and the samples.
class ROTA_EXPORT EvaluatorLoop {
 public:
  // `type` is that of the parameters, kFloat32 or kFloat64. `sum_count` is the number of sums in a
  // score. Throws as Evaluator does.
  EvaluatorLoop(const EvaluatorOptions& options, std::span<const ParameterInfo> parameters,
                DataType type, std::size_t sample_count, std::size_t sum_count);
  virtual ~EvaluatorLoop();
  EvaluatorLoop(const EvaluatorLoop&) = delete;
  EvaluatorLoop& operator=(const EvaluatorLoop&) = delete;

 protected:
  // The memory of a parameter and of its gradient, aligned as Model::bind() needs it.
  Values values_of(std::size_t parameter);
  Values gradient_of(std::size_t parameter);

  EvaluatorReport run_loop();
  BasicCheckpointScore<ScoreSums> score_path(const std::filesystem::path& path);
  void load_path(const std::filesystem::path& path);

 private:
  virtual ScoreSums evaluate_some(std::span<const std::uint64_t> samples) = 0;
  virtual void tell_of_score(const BasicCheckpointScore<ScoreSums>& score) = 0;

  class ROTA_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rota
