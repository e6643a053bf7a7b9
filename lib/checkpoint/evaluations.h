// The file evaluations.jsonl, to which an evaluator adds a line for each checkpoint. So a
// checkpoint is not evaluated again when the evaluator is started again.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rota/evaluations.h>

#include "os/lock_file.h"

namespace rota::checkpoint {

// The means of the sums, by name, for people and for other programs.
using Means = std::map<std::string, double>;

// Returns a line, with its end. Numbers that are not finite become null.
std::string encode(const SavedEvaluation& evaluation, const Means& means);

// Returns nothing if the line, without its end, is not from encode(). Nulls among the sums become
// NaN.
std::optional<SavedEvaluation> evaluation_from(std::string_view line);

class EvaluationsFile {
 public:
  // Opens or creates the file in the folder of checkpoints, which must exist, and takes it for this
  // process. Waits up to `patience` for another evaluator to end. A last line without an end, which
  // an evaluator that was killed has left, is cut off. A damaged line is passed over, and named on
  // stderr. Throws Error kCannotWrite if the file cannot be written, or if another evaluator has
  // it; kSystem if it cannot be read.
  EvaluationsFile(const std::string& folder, std::chrono::milliseconds patience);

  bool has(const std::string& run, std::uint64_t start, std::uint64_t step) const;

  // Returns the evaluations of the run, in the order of their lines.
  std::vector<SavedEvaluation> of_run(const std::string& run) const;

  // Remembers the evaluation, and returns when the disk has its line. Throws Error kCannotWrite;
  // then flush() and the next add() write this line too.
  void add(const SavedEvaluation& evaluation, const Means& means);

  // Writes the lines that the disk has not taken before. Throws Error kCannotWrite.
  void flush();

  // Returns how many lines the disk has not taken.
  std::size_t unwritten_count() const;

 private:
  std::string path_;
  os::LockFile file_;
  std::uint64_t bytes_ = 0;  // Of the whole lines that the disk has.
  std::string unwritten_;    // Lines that the disk did not take.
  std::vector<SavedEvaluation> saved_;
};

}  // namespace rota::checkpoint
