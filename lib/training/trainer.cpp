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

namespace rota {
namespace {

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
  step_count_ = 0;
  sample_count_ = 0;
  train_seconds_ = 0;
  AgreedSteps steps(communicator_);
  EndReport end;
  for (std::size_t epoch = 1; epoch <= options_.epochs; ++epoch) {
    EpochReport report;
    report.epoch = epoch;
    end.stopped = !train_epoch(steps, report);
    if (end.stopped) break;
    report.test = end.test = evaluate(epoch);
    tell(&TrainingHook::on_epoch, report);
  }
  end.steps = step_count_;
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
  const double seconds_before = train_seconds_;
  const std::size_t step_count = sampler_.step_count();
  const std::size_t epoch = report.epoch;
  const std::size_t steps_before = (epoch - 1) * step_count;
  const double decay =
      (1 - options_.final_learning_rate_factor) / static_cast<double>(options_.epochs * step_count);
  report.epoch_count = options_.epochs;
  report.step_count = step_count;
  sampler_.shuffle(epoch);
  for (std::size_t step = 0; step < step_count; ++step) {
    if (!steps.begin()) return false;
    const Score score =
        train_step({.epoch = epoch,
                    .step = step + 1,
                    .learning_rate_factor = 1 - decay * static_cast<double>(steps_before + step)});
    report.train.loss += score.loss;
    report.train.correct += score.correct;
    report.train.samples += score.samples;
    ++step_count_;
    sample_count_ += score.samples;
    train_seconds_ = seconds_before + base::to_seconds(base::Clock::now() - start);
    tell(&TrainingHook::on_step, StepReport{.epoch = epoch,
                                            .epoch_count = options_.epochs,
                                            .step = step + 1,
                                            .step_count = step_count,
                                            .score = score,
                                            .samples = sample_count_,
                                            .train_seconds = train_seconds_});
  }
  report.epoch_seconds = train_seconds_ - seconds_before;
  report.train_seconds = train_seconds_;
  return true;
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
