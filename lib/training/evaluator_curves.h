// The curves of an evaluator. TensorBoard shows one curve of a training run, in whatever order its
// checkpoints are evaluated.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <rota/evaluations.h>
#include <rota/summaries.h>

#include "checkpoint/evaluations.h"

namespace rota::training {

// Returns the points of the curve of a run, in the order of their steps. `evaluations` are all of
// this run, in any order. If a start of the run has gone back, its first point replaces those that
// earlier starts have at this step and later.
std::vector<SavedEvaluation> curve_of(std::vector<SavedEvaluation> evaluations);

class EvaluatorCurves {
 public:
  // The curve of each sum has the name in its place. Without `logs`, no curve is written. Otherwise
  // the curves are in LOGS/evaluator.
  EvaluatorCurves(const std::filesystem::path& logs, std::vector<std::string> names);

  // Returns the points of the evaluation, by the name of the curve.
  checkpoint::Means means_of(const SavedEvaluation& evaluation) const;

  // Writes the points of the evaluation. `others` are all other evaluations of its run. Later
  // points that are there already are written again. The first call for a run, and the first one
  // after close(), write the whole curve. Warns once if no file can be made: the evaluator goes on,
  // because its end would end the job. A later call writes what the disk has not taken.
  void write(const SavedEvaluation& evaluation, std::vector<SavedEvaluation> others);

  // Lets other evaluators write to the folder.
  void close() noexcept {
    writer_.reset();
    run_.clear();
  }

 private:
  bool open(std::uint64_t first_step);

  std::filesystem::path folder_;  // Empty: no curve is written.
  std::vector<std::string> names_;
  std::optional<SummaryWriter> writer_;
  std::string run_;              // Empty: what the files have is not known.
  std::uint64_t last_step_ = 0;  // Of the points that writer_ got.
  std::uint64_t missing_ = 0;    // The disk may lack points of run_ from this step on.
  bool is_warned_ = false;
};

}  // namespace rota::training
