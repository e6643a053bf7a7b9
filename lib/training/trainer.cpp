// The training loop.
#include <rota/trainer.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include <rota/error.h>

#include "base/hash.h"
#include "base/time.h"
#include "training/state.h"

namespace rota {
namespace {

enum Seconds : std::size_t { kInAll, kBeforeEpoch };

Score score_from(const std::array<double, 3>& sums) {
  return {sums[0], static_cast<std::size_t>(sums[1]), static_cast<std::size_t>(sums[2])};
}

std::string to_text(const ImageShape& shape) {
  return std::to_string(shape.rows) + " x " + std::to_string(shape.columns) + " x " +
         std::to_string(shape.channels);
}

void check_fit(const char* name, const Dataset& data, const ImageShape& shape,
               std::size_t classes) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kInvalidArgument, std::string("the ") + name + " set " + why);
  };
  if (data.shape.rows != shape.rows || data.shape.columns != shape.columns ||
      data.shape.channels != shape.channels) {
    refuse("has images of " + to_text(data.shape) + ", the model takes " + to_text(shape));
  }
  if (data.pixels.size() != data.count() * shape.count()) {
    refuse("has " + std::to_string(data.pixels.size()) + " pixels for " +
           std::to_string(data.count()) + " images of " + to_text(shape));
  }
  if (data.count() == 0) refuse("is empty");
  const std::size_t largest = *std::max_element(data.labels.begin(), data.labels.end());
  if (largest >= classes) {
    refuse("has a label " + std::to_string(largest) + ", the model has " + std::to_string(classes) +
           " classes");
  }
}

template <class T>
const TrainerOptions& checked(const TrainerOptions& options, const Model<T>& model,
                              const Dataset& train, const Dataset& test) {
  check_fit("training", train, model.input_shape(), model.classes());
  check_fit("test", test, model.input_shape(), model.classes());
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

SamplerOptions sampler_options(const Communicator& communicator, const Dataset& train,
                               const TrainerOptions& options) {
  return {train.count(), options.batch_size, communicator.rank(), communicator.world_size(),
          options.seed};
}

// Ranks that disagree here would wait for one another, or train on other data than they say.
ReplicaOptions replica_options(const Dataset& train, const Dataset& test,
                               const TrainerOptions& options) {
  const auto labels = [](const Dataset& data) {
    return std::to_string(data.count()) + " samples, labels' hash " +
           std::to_string(base::fnv1a(std::as_bytes(std::span(data.labels))));
  };
  return {options.optimizer,
          options.buckets,
          options.seed,
          options.max_gradient_norm,
          {{"training set of", labels(train)},
           {"test set of", labels(test)},
           {"epochs", std::to_string(options.epochs)},
           {"batch size", std::to_string(options.batch_size)},
           {"seed", std::to_string(options.seed)},
           {"final learning rate factor", std::to_string(options.final_learning_rate_factor)}}};
}

}  // namespace

template <class T>
Trainer<T>::Trainer(Communicator& communicator, Model<T> model, const Dataset& train,
                    const Dataset& test, const TrainerOptions& options)
    : communicator_(communicator),
      test_(test),
      options_(checked(options, model, train, test)),
      sampler_(sampler_options(communicator, train, options)),
      replica_(communicator, std::move(model), replica_options(train, test, options)),
      train_batch_(train, slice_of(options.batch_size, 0, options.accumulation_steps).count),
      test_batch_(test, options.batch_size),
      test_order_(test.count()) {
  std::iota(test_order_.begin(), test_order_.end(), std::uint64_t{0});
}

template <class T>
EndReport Trainer<T>::run() {
  const base::TimePoint start = base::Clock::now();
  if (!std::exchange(goes_on_, false)) place_ = {};
  AgreedSteps steps(communicator_);
  EndReport end;
  while (place_.epoch <= options_.epochs) {
    EpochReport report;
    end.stopped = !train_epoch(steps, report);
    if (end.stopped) break;
    report.test = end.test = evaluate(report.epoch);
    ++place_.epoch;
    place_.samples = 0;
    place_.score = {};
    place_.seconds[kBeforeEpoch] = place_.seconds[kInAll];
    tell(&TrainingHook::on_epoch, report);
  }
  end.steps = static_cast<std::size_t>(place_.steps);
  end.world_size = communicator_.world_size();
  end.transport = communicator_.rank_table().transport;
  end.seconds = base::to_seconds(base::Clock::now() - start);
  end.weights_hash = replica_.weights_hash();
  tell(&TrainingHook::on_end, end);
  return end;
}

// False where the ranks have agreed to stop in this epoch, or before it. Only where a step begins
// is that looked at: an epoch whose steps are all done is evaluated on all ranks.
template <class T>
bool Trainer<T>::train_epoch(AgreedSteps& steps, EpochReport& report) {
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
    const Score score =
        train_step({.epoch = epoch,
                    .step = step + 1,
                    .learning_rate_factor = 1 - decay * static_cast<double>(steps_before + step)});
    place_.seconds[kInAll] = seconds_at_start + base::to_seconds(base::Clock::now() - start);
    tell_of_step(score, step + 1);
  }
  report.epoch = epoch;
  report.epoch_count = options_.epochs;
  report.step_count = step_count;
  report.train = score_from(place_.score);
  report.epoch_seconds = place_.seconds[kInAll] - place_.seconds[kBeforeEpoch];
  report.train_seconds = place_.seconds[kInAll];
  return true;
}

// The place is behind the step already, so that a hook may ask for the state.
template <class T>
void Trainer<T>::tell_of_step(const Score& score, std::size_t step) {
  place_.samples += score.samples;
  place_.samples_in_all += score.samples;
  ++place_.steps;
  place_.score[0] += score.loss;
  place_.score[1] += static_cast<double>(score.correct);
  place_.score[2] += static_cast<double>(score.samples);
  tell(&TrainingHook::on_step, StepReport{.epoch = static_cast<std::size_t>(place_.epoch),
                                          .epoch_count = options_.epochs,
                                          .step = step,
                                          .step_count = sampler_.step_count(),
                                          .score = score,
                                          .samples = place_.samples_in_all,
                                          .train_seconds = place_.seconds[kInAll]});
}

// In micro-batches, of which the last one sends the gradients of all.
template <class T>
Score Trainer<T>::train_step(const StepPlace& place) {
  const std::span<const std::uint64_t> samples = sampler_.batch(place.step - 1);
  for (std::size_t part = 0;; ++part) {
    const Slice slice = slice_of(samples.size(), part, options_.accumulation_steps);
    Batch<T> batch = train_batch_.gather(samples.subspan(slice.offset, slice.count));
    batch.seed = options_.seed;
    batch.step = (place.epoch - 1) * sampler_.step_count() + place.step - 1;
    if (part + 1 == options_.accumulation_steps) return replica_.step(batch, place);
    replica_.accumulate(batch);
  }
}

// Each rank takes a run of the test set; the sum tells every rank the same.
template <class T>
Score Trainer<T>::evaluate(std::size_t epoch) {
  const Slice share = slice_of(test_.count(), communicator_.rank(), communicator_.world_size());
  std::span<const std::uint64_t> rest = std::span(test_order_).subspan(share.offset, share.count);
  Score mine;
  while (!rest.empty()) {
    const auto samples = rest.first(std::min(rest.size(), options_.batch_size));
    const Score score = replica_.evaluate(test_batch_.gather(samples));
    mine.loss += score.loss;
    mine.correct += score.correct;
    mine.samples += score.samples;
    rest = rest.subspan(samples.size());
  }
  const Score score = replica_.sum_over_world(mine);
  if (!std::isfinite(score.loss)) {
    throw Error(ErrorCode::kNotFinite, "the loss of the test set is not finite after epoch " +
                                           std::to_string(epoch) + ": try a lower learning rate");
  }
  return score;
}

template <class T>
void Trainer<T>::require_step_at(const Place& place) const {
  const bool is_epoch = place.epoch >= 1 && place.epoch <= options_.epochs + 1;
  if (is_epoch && sampler_.samples_before(sampler_.step_at(place.samples)) == place.samples) return;
  throw Error(ErrorCode::kInvalidArgument,
              "the state is " + std::to_string(place.samples) + " samples into epoch " +
                  std::to_string(place.epoch) + ", where no step of this training begins");
}

// The place comes first: where it is refused, nothing has been written.
template <class T>
void Trainer<T>::visit_state(StateVisitor& visitor) {
  Place place = place_;
  const auto shape_of = [](const auto& numbers) { return std::array{numbers.size()}; };
  visitor.visit_counter({.name = "place/epoch"}, place.epoch);
  visitor.visit_counter({.name = "place/samples of the epoch's order"}, place.samples);
  visitor.visit_counter({.name = "place/steps"}, place.steps);
  visitor.visit_counter({.name = "place/samples"}, place.samples_in_all);
  visitor.visit_tensor({.name = "place/score of the epoch"}, shape_of(place.score), place.score);
  visitor.visit_tensor({.name = "place/seconds", .owner = StateOwner::kRank},
                       shape_of(place.seconds), place.seconds);
  require_step_at(place);
  replica_.visit_state(visitor);
  for (TrainingHook* hook : hooks_) hook->visit_state(visitor);
  place_ = place;
}

template <class T>
State Trainer<T>::state() {
  return copy_state([this](StateVisitor& visitor) { visit_state(visitor); });
}

template <class T>
void Trainer<T>::give_state(const State& state) {
  training::give_state(communicator_, state,
                       [this](StateVisitor& visitor) { visit_state(visitor); });
  goes_on_ = true;
}

// A hook that fails on one rank must not leave the others waiting for it.
template <class T>
template <class Report>
void Trainer<T>::tell(void (TrainingHook::*event)(const Report&), const Report& report) {
  try {
    for (TrainingHook* hook : hooks_) (hook->*event)(report);
  } catch (const std::exception& error) {
    communicator_.abort(std::string("a training hook failed: ") + error.what());
    throw;
  }
}

template class Trainer<float>;
template class Trainer<double>;

}  // namespace rota
