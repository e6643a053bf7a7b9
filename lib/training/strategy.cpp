// One replica a process: what a step does, in the order in which it does it.
#include <rota/strategy.h>

#include <array>
#include <cmath>
#include <type_traits>

#include <rota/error.h>

#include "training/agreement.h"
#include "training/hash.h"

namespace rota {
namespace {

// Rides with the last bucket, so that the score of all ranks costs no call of its own.
enum ScoreElement : std::size_t { kLoss, kCorrect, kScoreElementCount };

// What travels: the score, and then a gradient for each parameter.
template <class T>
std::vector<std::size_t> gradient_counts(const Model<T>& model) {
  std::vector<std::size_t> counts = {kScoreElementCount};
  for (const ParameterInfo& parameter : model.parameters()) counts.push_back(parameter.count());
  return counts;
}
constexpr std::size_t kScore = 0;
constexpr std::size_t gradient_of(std::size_t parameter) noexcept { return parameter + 1; }

template <class T>
std::vector<std::size_t> value_counts(const Model<T>& model) {
  std::vector<std::size_t> counts;
  for (const ParameterInfo& parameter : model.parameters()) counts.push_back(parameter.count());
  return counts;
}

template <class T>
Block allocate_values(Communicator& communicator, const Model<T>& model) {
  constexpr std::size_t kPadding = 64 / sizeof(T);
  std::size_t count = 0;
  for (const ParameterInfo& parameter : model.parameters()) {
    count += (parameter.count() + kPadding - 1) / kPadding * kPadding;
  }
  return communicator.allocate(count * sizeof(T));
}

template <class T>
training::Facts facts_of(const Model<T>& model, const StrategyOptions& options) {
  training::Facts facts = training::facts_of(model.parameters());
  facts.emplace_back("elements of", std::is_same_v<T, float> ? "float" : "double");
  facts.emplace_back("optimizer", training::to_text(options.optimizer));
  facts.emplace_back("buckets of", std::to_string(options.buckets.first_bucket_bytes) + ", then " +
                                       std::to_string(options.buckets.bucket_bytes) + " bytes");
  facts.insert(facts.end(), options.agreements.begin(), options.agreements.end());
  return facts;
}

}  // namespace

template <class T>
MultiWorkerStrategy<T>::MultiWorkerStrategy(Communicator& communicator, Model<T> model,
                                            const StrategyOptions& options)
    : communicator_(communicator),
      model_(std::move(model)),
      memory_(allocate_values(communicator, model_)),
      buckets_(communicator, gradient_counts(model_), options.buckets),
      optimizer_(options.optimizer, value_counts(model_)),
      gradient_ready_([this](std::size_t parameter) { buckets_.ready(gradient_of(parameter)); }) {
  training::check_agreement(communicator, facts_of(model_, options));
  constexpr std::size_t kAlignment = 64;
  const std::span<T> all(reinterpret_cast<T*>(memory_.bytes().data()),
                         memory_.bytes().size() / sizeof(T));
  std::span<T> rest = all;
  for (std::size_t index = 0; index < model_.parameters().size(); ++index) {
    const std::size_t count = model_.parameters()[index].count();
    values_.push_back(rest.first(count));
    rest = rest.subspan((count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment / sizeof(T));
    model_.bind(index, values_[index], buckets_.gradient(gradient_of(index)));
  }
  model_.initialize(options.seed);
  communicator.broadcast(all, 0);
}

template <class T>
Score MultiWorkerStrategy<T>::step(const Batch<T>& batch, const StepPlace& place) {
  buckets_.begin_step();
  const Score mine = model_.train(batch, gradient_ready_);
  check_finite(mine.loss, place);
  const std::span<T> score = buckets_.gradient(kScore);
  score[kLoss] = static_cast<T>(mine.loss);
  score[kCorrect] = static_cast<T>(mine.correct);
  buckets_.ready(kScore);

  // In the order of arrival: the last layers are updated while the first ones still travel.
  const T mean = T{1} / static_cast<T>(place.world_sample_count);
  optimizer_.begin_step(place.learning_rate_factor);
  for (std::size_t index = values_.size(); index-- > 0;) {
    buckets_.wait(buckets_.layout().bucket_of[gradient_of(index)]);
    optimizer_.update(index, values_[index], buckets_.gradient(gradient_of(index)), mean);
  }
  buckets_.wait();
  check_finite(score[kLoss], place);
  return {score[kLoss], static_cast<std::size_t>(score[kCorrect]), place.world_sample_count};
}

template <class T>
void MultiWorkerStrategy<T>::check_finite(double loss, const StepPlace& place) {
  if (std::isfinite(loss)) return;
  const std::string why = "rank " + std::to_string(communicator_.rank()) + ": the loss is " +
                          (std::isnan(loss) ? "not a number" : "infinite") + " in step " +
                          std::to_string(place.step) + " of epoch " + std::to_string(place.epoch) +
                          ": try a lower learning rate";
  communicator_.abort(why);
  throw Error(ErrorCode::kNotFinite, why);
}

template <class T>
Score MultiWorkerStrategy<T>::sum_over_world(const Score& score) {
  std::array<double, 3> sums = {score.loss, static_cast<double>(score.correct),
                                static_cast<double>(score.samples)};
  communicator_.all_reduce(sums, ReduceOp::kSum);
  return {sums[0], static_cast<std::size_t>(sums[1]), static_cast<std::size_t>(sums[2])};
}

template <class T>
std::uint64_t MultiWorkerStrategy<T>::weights_hash() const noexcept {
  std::uint64_t hash = training::kFnvStart;
  for (const std::span<T>& values : values_) hash = training::fnv1a(std::as_bytes(values), hash);
  return hash;
}

template class MultiWorkerStrategy<float>;
template class MultiWorkerStrategy<double>;

}  // namespace rota
