// Reads the evaluations of an evaluator while the training run goes on.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <rota/export.h>

namespace rota {

// What an Evaluator has found out about a checkpoint: a line of the file evaluations.jsonl.
struct SavedEvaluation {
  std::string run;          // See Restored::run.
  std::uint64_t start = 1;  // Which start of the run has saved the checkpoint.
  std::uint64_t step = 0;   // Of the checkpoint.
  std::uint64_t samples = 0;
  std::vector<double> sums;  // The sums of the score, over the samples.
  double time = 0;           // When the checkpoint was saved, in seconds since 1970; 0: unknown.
  friend bool operator==(const SavedEvaluation&, const SavedEvaluation&) = default;
};

// Reads the lines that an Evaluator adds to a file. One thread at a time may use it.
class ROTA_EXPORT FollowedEvaluations {
 public:
  // The file need not be there yet. Lines that have not `sum_count` sums are passed over.
  FollowedEvaluations(std::filesystem::path path, std::size_t sum_count);
  ~FollowedEvaluations();
  FollowedEvaluations(FollowedEvaluations&&) noexcept;
  FollowedEvaluations& operator=(FollowedEvaluations&&) noexcept;

  // From now on, next() returns the evaluations of this run, without the first `taken`. Returns
  // that of a checkpoint once, even if the file becomes shorter, and has its line again.
  void begin(const std::string& run, std::uint64_t taken);

  // The next evaluation; empty if there is none at present. Looks at the file once in a second at
  // most, and never waits for the evaluator. A damaged line is passed over, and named on stderr.
  // Throws UnreadableFile if the file cannot be read at five looks in a row.
  std::optional<SavedEvaluation> next();

 private:
  class ROTA_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rota
