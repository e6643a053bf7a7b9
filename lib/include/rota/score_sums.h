// Has scores and reports for code that does not know the score type of the model.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <rota/trainable.h>
#include <rota/training_hook.h>

namespace rota {

// A score, such as the loss, says how good the model is on some samples. `sums` are the numbers of
// the score, summed over these samples; `samples` counts them. A function may use the sums of an
// argument until it returns. The sums of a result are valid until the next call that returns a
// score.
struct ScoreSums {
  std::span<const double> sums;
  std::uint64_t samples = 0;
};

// Returns the score as an S. Requires as many sums as an S has.
template <SummedScore S>
S score_from(const ScoreSums& score) {
  auto sums = S{}.sums();
  std::ranges::copy(score.sums, sums.begin());
  return S::from_sums(sums, static_cast<std::size_t>(score.samples));
}

// Returns the same report, with scores of the type S.
template <SummedScore S>
BasicStepReport<S> report_from(const BasicStepReport<ScoreSums>& report) {
  return {report.epoch,
          report.epoch_count,
          report.step,
          report.step_count,
          score_from<S>(report.score),
          report.samples,
          report.train_seconds,
          report.steps,
          report.next_samples,
          report.learning_rate,
          report.rank_seconds};
}

template <SummedScore S>
BasicEvaluationReport<S> report_from(const BasicEvaluationReport<ScoreSums>& report) {
  return {report.epoch, report.steps, score_from<S>(report.score), report.seconds,
          report.is_validation};
}

template <SummedScore S>
BasicEpochReport<S> report_from(const BasicEpochReport<ScoreSums>& report) {
  return {report.epoch,
          report.epoch_count,
          report.step_count,
          score_from<S>(report.train),
          score_from<S>(report.test),
          report.epoch_seconds,
          report.train_seconds,
          score_from<S>(report.validation)};
}

template <SummedScore S>
BasicEndReport<S> report_from(const BasicEndReport<ScoreSums>& report) {
  return {report.world_size,   report.transport,           report.steps,
          report.stopped,      score_from<S>(report.test), report.seconds,
          report.weights_hash, report.stop_reason,         report.checkpoint};
}

}  // namespace rota
