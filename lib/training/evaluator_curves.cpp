// Writes points so that both loaders of TensorBoard show one curve. The loader in Python drops
// points only at the start of a file. The fast loader knows no starts: a point drops all points
// whose step is not smaller. So each file has ascending steps. If a point does not come behind all
// others, a new file starts there, and has the later points again. If the disk has not taken all
// points of a file, the next file has what is missing, and all later points.
#include "training/evaluator_curves.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <limits>
#include <utility>

#include <rota/error.h>

namespace rota::training {
namespace {

constexpr std::chrono::seconds kSummaryWait{10};

// Returns when the checkpoint was saved: a point is also written again later.
std::chrono::system_clock::time_point time_of(const SavedEvaluation& evaluation) {
  using Clock = std::chrono::system_clock;
  if (evaluation.time <= 0) return Clock::now();
  return Clock::time_point(
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(evaluation.time)));
}

}  // namespace

std::vector<SavedEvaluation> curve_of(std::vector<SavedEvaluation> evaluations) {
  std::ranges::sort(evaluations, {},
                    [](const SavedEvaluation& each) { return std::pair(each.start, each.step); });
  std::vector<SavedEvaluation> curve;
  for (SavedEvaluation& each : evaluations) {
    while (!curve.empty() && curve.back().step >= each.step) curve.pop_back();
    curve.push_back(std::move(each));
  }
  return curve;
}

EvaluatorCurves::EvaluatorCurves(const std::filesystem::path& logs, std::vector<std::string> names)
    : folder_(logs.empty() ? logs : logs / "evaluator"), names_(std::move(names)) {}

checkpoint::Means EvaluatorCurves::means_of(const SavedEvaluation& evaluation) const {
  checkpoint::Means means;
  for (std::size_t i = 0; i < std::min(names_.size(), evaluation.sums.size()); ++i) {
    means[names_[i]] = evaluation.sums[i] / static_cast<double>(evaluation.samples);
  }
  return means;
}

void EvaluatorCurves::write(const SavedEvaluation& evaluation,
                            std::vector<SavedEvaluation> others) {
  if (folder_.empty()) return;
  others.push_back(evaluation);
  const std::vector<SavedEvaluation> curve = curve_of(std::move(others));
  const auto own = std::ranges::find_if(curve, [&](const SavedEvaluation& each) {
    return each.start == evaluation.start && each.step == evaluation.step;
  });
  if (own == curve.end()) return;  // A later start of the run has gone back behind this point.
  // Earlier evaluators may have left a part of the curve, or none, or that of another run.
  if (run_ != evaluation.run) missing_ = 0;
  const bool continues =
      writer_ && writer_->dropped() == 0 && run_ == evaluation.run && evaluation.step > last_step_;
  run_ = evaluation.run;
  missing_ = std::min(missing_, evaluation.step);
  const auto first =
      continues ? own : std::ranges::lower_bound(curve, missing_, {}, &SavedEvaluation::step);
  // A file starts right behind the point before. So it also drops points that are in no line. For
  // the loader in Python, the first file of a run drops all points of the run before.
  const std::uint64_t first_step = first == curve.begin() ? 0 : std::prev(first)->step + 1;
  if (!continues && !open(first_step)) return;
  for (auto each = first; each != curve.end(); ++each) {
    for (const auto& [name, mean] : means_of(*each)) {
      writer_->scalar(name, mean, static_cast<std::int64_t>(each->step), time_of(*each));
    }
  }
  last_step_ = curve.back().step;
  const bool is_written = writer_->flush_within(kSummaryWait) && writer_->dropped() == 0;
  if (is_written) missing_ = last_step_ + 1;
}

// Makes a writer, whose file begins at this step. Returns false if that fails.
bool EvaluatorCurves::open(std::uint64_t first_step) {
  SummaryOptions options;
  options.first_step = static_cast<std::int64_t>(first_step);
  options.queue_summaries = std::numeric_limits<std::size_t>::max();  // A whole curve may wait.
  if (is_warned_) options.other_writer_wait = {};                     // One wait is enough.
  try {
    writer_.emplace(folder_, options);
  } catch (const Error& error) {
    if (!std::exchange(is_warned_, true)) {
      std::fprintf(stderr, "rota: warning: the evaluator goes on without curves: %s\n",
                   error.what());
    }
    return false;
  }
  return true;
}

}  // namespace rota::training
