// The training loop.
#include <rota/training_loop.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include <rota/error.h>

#include "base/time.h"
#include "training/state.h"

namespace rota {
namespace {

enum Seconds : std::size_t { kInAll, kBeforeEpoch };

const TrainerOptions& checked(const TrainerOptions& options) {
  if (options.epochs == 0) {
    throw Error(ErrorCode::kInvalidArgument, "epochs 0: expected 1 or more");
  }
  if (options.accumulation_steps == 0) {
    throw Error(ErrorCode::kInvalidArgument, "accumulation steps 0: expected 1 or more");
  }
  const double factor = options.final_learning_rate_factor;
  if (!(factor >= 0 && factor <= 1)) {
    throw Error(ErrorCode::kInvalidArgument,
                "final learning rate factor " + std::to_string(factor) + ": expected 0 to 1");
  }
  return options;
}

SamplerOptions sampler_options(const Communicator& communicator, const SampleFacts& train,
                               const TrainerOptions& options) {
  return {train.count, options.batch_size, communicator.rank(), communicator.world_size(),
          options.seed};
}

// `sums` has the samples behind the sums.
ScoreSums as_score(std::span<const double> sums) {
  return {sums.first(sums.size() - 1), static_cast<std::uint64_t>(sums.back())};
}

void add(std::vector<double>& sums, const ScoreSums& score) {
  for (std::size_t i = 0; i < score.sums.size(); ++i) sums[i] += score.sums[i];
  sums.back() += static_cast<double>(score.samples);
}

}  // namespace

std::size_t largest_micro_batch(const TrainerOptions& options) noexcept {
  if (options.accumulation_steps == 0) return 0;
  return slice_of(options.batch_size, 0, options.accumulation_steps).count;
}

TrainingLoop::TrainingLoop(Communicator& communicator, const TrainerOptions& options,
                           const SampleFacts& train, const SampleFacts& test, std::size_t sum_count)
    : communicator_(communicator),
      options_(checked(options)),
      train_(train),
      test_(test),
      sum_count_(sum_count),
      sampler_(sampler_options(communicator, train, options)),
      test_order_(test.count),
      test_sums_(sum_count + 1),
      place_(place_at_start(sum_count)) {
  std::iota(test_order_.begin(), test_order_.end(), std::uint64_t{0});
}

TrainingLoop::~TrainingLoop() = default;

TrainingLoop::Place TrainingLoop::place_at_start(std::size_t sum_count) {
  Place place;
  place.sums.resize(sum_count + 1);
  return place;
}

// Ranks that disagree here would wait for one another, or train on other data than they say.
ReplicaOptions TrainingLoop::replica_options() const {
  const auto text_of = [](const SampleFacts& data) {
    return std::to_string(data.count) + " samples" +
           (data.digest.empty() ? "" : ", " + data.digest);
  };
  return {options_.optimizer,
          options_.buckets,
          options_.seed,
          options_.max_gradient_norm,
          {{"training set of", text_of(train_)},
           {"test set of", text_of(test_)},
           {"epochs", std::to_string(options_.epochs)},
           {"batch size", std::to_string(options_.batch_size)},
           {"seed", std::to_string(options_.seed)},
           {"final learning rate factor", std::to_string(options_.final_learning_rate_factor)}}};
}

BasicEndReport<ScoreSums> TrainingLoop::run_loop() {
  const base::TimePoint start = base::Clock::now();
  if (!std::exchange(goes_on_, false)) place_ = place_at_start(sum_count_);
  AgreedSteps steps(communicator_);
  BasicEndReport<ScoreSums> end;
  std::ranges::fill(test_sums_, 0);
  end.test = as_score(test_sums_);
  while (place_.epoch <= options_.epochs) {
    BasicEpochReport<ScoreSums> report;
    end.stopped = !train_epoch(steps, report);
    if (end.stopped) break;
    report.test = end.test = evaluate(report.epoch);
    ++place_.epoch;
    place_.samples = 0;
    std::ranges::fill(place_.sums, 0);
    place_.seconds[kBeforeEpoch] = place_.seconds[kInAll];
    tell_of_epoch(report);
  }
  end.steps = static_cast<std::size_t>(place_.steps);
  end.world_size = communicator_.world_size();
  end.transport = communicator_.rank_table().transport;
  end.seconds = base::to_seconds(base::Clock::now() - start);
  end.weights_hash = weights_hash();
  tell_of_end(end);
  return end;
}

// False where the ranks have agreed to stop in this epoch, or before it. Only where a step begins
// is that looked at: an epoch whose steps are all done is evaluated on all ranks.
bool TrainingLoop::train_epoch(AgreedSteps& steps, BasicEpochReport<ScoreSums>& report) {
  const base::TimePoint start = base::Clock::now();
  const double seconds_at_start = place_.seconds[kInAll];
  const std::size_t step_count = sampler_.step_count();
  const auto epoch = static_cast<std::size_t>(place_.epoch);
  const std::size_t steps_before = (epoch - 1) * step_count;
  const double decay =
      (1 - options_.final_learning_rate_factor) / static_cast<double>(options_.epochs * step_count);
  sampler_.shuffle(epoch);
  for (std::size_t step = sampler_.step_at(place_.samples); step < step_count; ++step) {
    if (!steps.begin()) return false;
    const ScoreSums score =
        take_step(sampler_.batch(step), steps_before + step,
                  {.epoch = epoch,
                   .step = step + 1,
                   .learning_rate_factor = 1 - decay * static_cast<double>(steps_before + step)});
    place_.seconds[kInAll] = seconds_at_start + base::to_seconds(base::Clock::now() - start);
    finish_step(score, step + 1);
  }
  report.epoch = epoch;
  report.epoch_count = options_.epochs;
  report.step_count = step_count;
  epoch_sums_ = place_.sums;
  report.train = as_score(epoch_sums_);
  report.epoch_seconds = place_.seconds[kInAll] - place_.seconds[kBeforeEpoch];
  report.train_seconds = place_.seconds[kInAll];
  return true;
}

// The place is behind the step already, so that a hook may ask for the state.
void TrainingLoop::finish_step(const ScoreSums& score, std::size_t step) {
  place_.samples += score.samples;
  place_.samples_in_all += score.samples;
  ++place_.steps;
  add(place_.sums, score);
  tell_of_step({.epoch = static_cast<std::size_t>(place_.epoch),
                .epoch_count = options_.epochs,
                .step = step,
                .step_count = sampler_.step_count(),
                .score = score,
                .samples = place_.samples_in_all,
                .train_seconds = place_.seconds[kInAll]});
}

// Each rank takes a run of the test set; the sum tells every rank the same.
ScoreSums TrainingLoop::evaluate(std::size_t epoch) {
  const Slice share = slice_of(test_.count, communicator_.rank(), communicator_.world_size());
  std::span<const std::uint64_t> rest = std::span(test_order_).subspan(share.offset, share.count);
  std::vector<double> mine(sum_count_ + 1);
  while (!rest.empty()) {
    const auto samples = rest.first(std::min(rest.size(), options_.batch_size));
    add(mine, evaluate_some(samples));
    rest = rest.subspan(samples.size());
  }
  const ScoreSums sum = sum_over_world(as_score(mine));
  std::ranges::fill(test_sums_, 0);
  add(test_sums_, sum);
  if (sum_count_ > 0 && !std::isfinite(test_sums_.front())) {
    throw Error(ErrorCode::kNotFinite, "the loss of the test set is not finite after epoch " +
                                           std::to_string(epoch) + ": try a lower learning rate");
  }
  return as_score(test_sums_);
}

void TrainingLoop::abort_for_hook(const std::exception& error) {
  communicator_.abort(std::string("a training hook failed: ") + error.what());
}

void TrainingLoop::require_step_at(const Place& place) const {
  const bool is_epoch = place.epoch >= 1 && place.epoch <= options_.epochs + 1;
  if (is_epoch && sampler_.samples_before(sampler_.step_at(place.samples)) == place.samples) return;
  throw Error(ErrorCode::kInvalidArgument,
              "the state is " + std::to_string(place.samples) + " samples into epoch " +
                  std::to_string(place.epoch) + ", where no step of this training begins");
}

// It comes first in a visit: where it is refused, nothing has been written.
void TrainingLoop::visit_place(StateVisitor& visitor) {
  Place place = place_;
  const std::size_t sum_count = place.sums.size();
  const std::size_t second_count = place.seconds.size();
  visitor.visit_counter({.name = "place/epoch"}, place.epoch);
  visitor.visit_counter({.name = "place/samples of the epoch's order"}, place.samples);
  visitor.visit_counter({.name = "place/steps"}, place.steps);
  visitor.visit_counter({.name = "place/samples"}, place.samples_in_all);
  visitor.visit_tensor({.name = "place/score of the epoch"}, std::span(&sum_count, 1), place.sums);
  visitor.visit_tensor({.name = "place/seconds", .owner = StateOwner::kRank},
                       std::span(&second_count, 1), place.seconds);
  require_step_at(place);
  place_ = std::move(place);
}

void TrainingLoop::give_state_to(const State& state, const StateVisit& visit) {
  training::give_state(communicator_, state, visit);
  goes_on_ = true;
}

}  // namespace rota
