// Runs the epochs of a training run: their steps, evaluations and reports.
#include <rota/training_loop.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include <rota/error.h>

#include "base/thrown.h"
#include "base/time.h"

namespace rota {
namespace {

enum Seconds : std::size_t { kInAll, kBeforeEpoch };

// The last of `sums` is the number of samples.
ScoreSums as_score(std::span<const double> sums) {
  return {sums.first(sums.size() - 1), static_cast<std::uint64_t>(sums.back())};
}

void add(std::vector<double>& sums, const ScoreSums& score) {
  for (std::size_t i = 0; i < score.sums.size(); ++i) sums[i] += score.sums[i];
  sums.back() += static_cast<double>(score.samples);
}

}  // namespace

BasicEndReport<ScoreSums> TrainingLoop::run_loop() {
  try {
    return run_epochs();
  } catch (...) {
    fail(base::text_of_thrown("the training program"));
    throw;
  }
}

BasicEndReport<ScoreSums> TrainingLoop::run_epochs() {
  const base::TimePoint start = base::Clock::now();
  begin();
  AgreedSteps steps(communicator_);
  BasicEndReport<ScoreSums> report;
  // The test set may have changed since the last epoch.
  const bool was_done = place_.epoch > options_.epochs && options_.epochs > 0;
  if (was_done) report.stopped = !score_set(EvaluatedSet::kTest, steps, place_.test_sums);
  while (place_.epoch <= options_.epochs) {
    BasicEpochReport<ScoreSums> epoch;
    report.stopped = is_stop_agreed_ || !train_epoch(steps) || !evaluate(steps);
    if (report.stopped) break;
    finish_epoch(epoch);
    tell_of_epoch(epoch);
    agree_between_epochs();
  }
  forget_expected_steps();
  report.test = as_score(place_.test_sums);
  end(report);
  report.seconds = base::to_seconds(base::Clock::now() - start);
  tell_of_end(report);
  return report;
}

void TrainingLoop::begin() {
  const bool was_given = std::exchange(goes_on_, false);
  if (!was_given) place_ = place_at_start();
  forget_wishes();
  BeginReport report;
  if (session_ != nullptr) {
    report = session_->begin([this](StateVisitor& visitor) { visit_run(visitor); });
  }
  newest_checkpoint_ = report.fresh ? "" : report.path;
  if (report.fresh && report.path.empty()) report.saved_world_size = communicator_.world_size();
  report.fresh = report.fresh && !was_given;
  report.step = place_.steps;
  report.epoch = static_cast<std::size_t>(place_.epoch);
  report.samples = place_.samples_in_all;
  report.next_samples =
      sampler_.world_batch_count_at(place_.samples < train_.count ? place_.samples : 0);
  report.train_seconds = place_.seconds[kInAll];
  report.world_size = communicator_.world_size();
  tell_of_begin(report);
  agree_between_epochs();
}

void TrainingLoop::end(BasicEndReport<ScoreSums>& report) {
  report.steps = static_cast<std::size_t>(place_.steps);
  report.world_size = communicator_.world_size();
  report.transport = communicator_.rank_table().transport;
  report.weights_hash = weights_hash();
  if (report.stopped && is_stop_agreed_) report.stop_reason = shared_stop_reason();
  if (session_ != nullptr) session_->end(place_.steps);
  report_checkpoints();
  const bool is_interrupted = report.stopped && !is_stop_agreed_;
  if (session_ != nullptr && !is_interrupted) session_->complete(place_.steps);
  report.checkpoint = newest_checkpoint_;
}

void TrainingLoop::fail(const std::string& first_cause) noexcept {
  if (session_ != nullptr) session_->fail(first_cause);
  tell_of_failure(first_cause);
  forget_expected_steps();
}

// Returns false if the ranks have agreed to stop before the last step of this epoch.
bool TrainingLoop::train_epoch(AgreedSteps& steps) {
  const base::TimePoint start = base::Clock::now();
  const double seconds_at_start = place_.seconds[kInAll];
  rank_seconds_counter_.enter(seconds_now());
  sampler_.shuffle(place_.epoch);
  expected_samples_ = place_.samples;
  expected_steps_ = place_.steps;
  while (place_.samples < train_.count) {
    if (is_stop_agreed_ || !steps.begin()) return false;
    if (session_ != nullptr) session_->begin_step(place_.steps + 1);
    take_wishes_for_step();
    const StepPlace place = next_step();
    expect_steps();
    const ScoreSums score = take_step(place);
    place_.seconds[kInAll] = seconds_at_start + base::to_seconds(base::Clock::now() - start);
    finish_step(score, place);
    fulfil_step_wishes();
    rank_seconds_counter_.add_step();
  }
  rank_seconds_counter_.leave(seconds_now());
  return true;
}

// Announces the next step, and those that are gathered ahead. The next epoch has another order, so
// none of its steps is announced.
void TrainingLoop::expect_steps() {
  while (expected_samples_ < train_.count && expected_steps_ - place_.steps <= options_.prefetch) {
    expect_step(sampler_.batch_at(expected_samples_), expected_steps_);
    expected_samples_ += sampler_.world_batch_count_at(expected_samples_);
    ++expected_steps_;
  }
}

// The learning rate falls with the samples that are done, counted in steps of this world. The count
// is whole as long as all steps were equal.
StepPlace TrainingLoop::next_step() const {
  const auto step_count = static_cast<double>(sampler_.step_count());
  const double decay = (1 - options_.final_learning_rate_factor) /
                       static_cast<double>(options_.epochs * sampler_.step_count());
  const double done = static_cast<double>(place_.epoch - 1) * step_count +
                      static_cast<double>(place_.samples) / static_cast<double>(world_batch());
  return {.epoch = static_cast<std::size_t>(place_.epoch),
          .step = static_cast<std::size_t>(place_.epoch_steps) + 1,
          .learning_rate_factor = (1 - decay * done) * place_.learning_rate_factor,
          .more_sums = step_sums_};
}

// Moves the place past the step before the hooks run, so that a hook may ask for the state.
void TrainingLoop::finish_step(const ScoreSums& score, const StepPlace& place) {
  place_.samples += sampler_.world_batch_count_at(place_.samples);
  place_.samples_in_all += score.samples;
  ++place_.steps;
  ++place_.epoch_steps;
  add(place_.sums, score);
  const std::uint64_t left = train_.count - place_.samples;
  const double first_rate =
      std::visit([](const auto& optimizer) { return optimizer.learning_rate; }, options_.optimizer);
  tell_of_step({.epoch = place.epoch,
                .epoch_count = options_.epochs,
                .step = place.step,
                .step_count = place.step +
                              static_cast<std::size_t>((left + world_batch() - 1) / world_batch()),
                .score = score,
                .samples = place_.samples_in_all,
                .train_seconds = place_.seconds[kInAll],
                .steps = place_.steps,
                .next_samples = sampler_.world_batch_count_at(left > 0 ? place_.samples : 0),
                .learning_rate = first_rate * place.learning_rate_factor,
                .rank_seconds = world_rank_seconds()});
}

// Returns false if the ranks have agreed to stop before all was evaluated. Then no hook is told of
// anything, because the whole evaluation comes again when the run is resumed.
bool TrainingLoop::evaluate(AgreedSteps& steps) {
  const base::TimePoint start = base::Clock::now();
  base::TimePoint end = start;
  const bool has_validation = validation_.count > 0;
  if (has_validation) {
    if (!score_set(EvaluatedSet::kValidation, steps, validation_sums_)) return false;
    end = base::Clock::now();
  }
  if (!score_set(EvaluatedSet::kTest, steps, place_.test_sums)) return false;
  if (!has_validation) end = base::Clock::now();
  tell_of_evaluation({.epoch = static_cast<std::size_t>(place_.epoch),
                      .steps = place_.steps,
                      .score = as_score(has_validation ? validation_sums_ : place_.test_sums),
                      .seconds = base::to_seconds(end - start),
                      .is_validation = has_validation});
  return true;
}

// Sets `sums`, the sample count last. Each rank evaluates one slice of the set; the sum gives every
// rank the same score. Returns false if the ranks have agreed to stop before all slices were
// evaluated. To be able to agree, every rank begins as many steps as rank 0, whose slice is the
// longest.
bool TrainingLoop::score_set(EvaluatedSet set, AgreedSteps& steps, std::vector<double>& sums) {
  const std::size_t world_size = communicator_.world_size();
  const bool is_test = set == EvaluatedSet::kTest;
  const std::size_t count = is_test ? test_.count : validation_.count;
  const std::size_t longest = slice_of(count, 0, world_size).count;
  const Slice share = slice_of(count, communicator_.rank(), world_size);
  std::span<const std::uint64_t> rest =
      std::span(evaluation_order_).subspan(share.offset, share.count);
  std::vector<double> mine(sum_count_ + 1);
  for (std::size_t done = 0; done < longest; done += options_.batch_size) {
    if (!steps.begin()) return false;
    const auto samples = rest.first(std::min(rest.size(), options_.batch_size));
    if (!samples.empty()) add(mine, evaluate_some(set, samples));
    rest = rest.subspan(samples.size());
  }
  const ScoreSums sum = sum_over_world(as_score(mine));
  std::ranges::fill(sums, 0);
  add(sums, sum);
  if (sum_count_ > 0 && !std::isfinite(sums.front())) {
    throw Error(ErrorCode::kNotFinite,
                std::string("the loss of the ") + (is_test ? "test" : "validation") +
                    " set is not finite after epoch " +
                    std::to_string(std::min<std::uint64_t>(place_.epoch, options_.epochs)) +
                    ": try a lower learning rate");
  }
  return true;
}

// Moves the place to the next epoch, and reports this one.
void TrainingLoop::finish_epoch(BasicEpochReport<ScoreSums>& report) {
  epoch_sums_ = place_.sums;
  report = {.epoch = static_cast<std::size_t>(place_.epoch),
            .epoch_count = options_.epochs,
            .step_count = static_cast<std::size_t>(place_.epoch_steps),
            .train = as_score(epoch_sums_),
            .test = as_score(place_.test_sums),
            .epoch_seconds = place_.seconds[kInAll] - place_.seconds[kBeforeEpoch],
            .train_seconds = place_.seconds[kInAll],
            .validation = as_score(validation_sums_)};
  ++place_.epoch;
  place_.samples = 0;
  place_.cut_at = 0;
  place_.epoch_steps = 0;
  std::ranges::fill(place_.sums, 0);
  place_.seconds[kBeforeEpoch] = place_.seconds[kInAll];
}

}  // namespace rota
