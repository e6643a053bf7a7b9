// A replica: what a step does, in the order in which it does it.
#include <rota/replica.h>

#include <array>
#include <cmath>
#include <type_traits>

#include <rota/error.h>

#include "base/hash.h"
#include "training/agreement.h"
#include "training/squared_norm.h"
#include "training/state.h"

namespace rota {
namespace {

// What a score is on its way. The count of samples travels beside it.
enum ScoreElement : std::size_t { kLoss, kCorrect, kScoreElementCount };

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

// What ranks compare, beside the parameters; and a state has to share.
template <class T>
training::Facts facts_of(const ReplicaOptions& options) {
  training::Facts facts;
  facts.emplace_back("elements of", std::is_same_v<T, float> ? "float" : "double");
  facts.emplace_back("optimizer", training::to_text(options.optimizer));
  facts.emplace_back("largest gradient norm", training::to_text(options.max_gradient_norm));
  facts.emplace_back("buckets of", std::to_string(options.buckets.first_bucket_bytes) + ", then " +
                                       std::to_string(options.buckets.bucket_bytes) + " bytes");
  facts.insert(facts.end(), options.agreements.begin(), options.agreements.end());
  return facts;
}

training::Facts joined(training::Facts first, const training::Facts& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

double checked_norm(double norm) {
  if (norm >= 0 && std::isfinite(norm)) return norm;
  throw Error(ErrorCode::kInvalidArgument, "max_gradient_norm is " + training::to_text(norm) +
                                               "; it must be finite and not negative");
}

}  // namespace

template <class T>
Replica<T>::Replica(Communicator& communicator, Model<T> model, const ReplicaOptions& options)
    : communicator_(communicator),
      max_gradient_norm_(checked_norm(options.max_gradient_norm)),
      facts_(facts_of<T>(options)),
      model_(std::move(model)),
      memory_(allocate_values(communicator, model_)),
      buckets_(communicator, value_counts(model_), options.buckets),
      optimizer_(options.optimizer, value_counts(model_)),
      gradient_ready_([this](std::size_t parameter) { buckets_.ready(parameter); }) {
  training::check_agreement(communicator, joined(training::facts_of(model_.parameters()), facts_));
  constexpr std::size_t kValuesAlignment = 64;
  const std::span<T> all(reinterpret_cast<T*>(memory_.bytes().data()),
                         memory_.bytes().size() / sizeof(T));
  std::span<T> rest = all;
  for (std::size_t index = 0; index < model_.parameters().size(); ++index) {
    const std::size_t count = model_.parameters()[index].count();
    values_.push_back(rest.first(count));
    rest = rest.subspan((count * sizeof(T) + kValuesAlignment - 1) / kValuesAlignment *
                        kValuesAlignment / sizeof(T));
    model_.bind(index, values_[index], buckets_.gradient(index));
  }
  model_.initialize(options.seed);
  communicator.broadcast(all, 0);
}

template <class T>
void Replica<T>::accumulate(const Batch<T>& batch) {
  const Gradients gradients = forward(batch);
  model_.backward({}, gradients);
}

// The gradients hold the sum over mine_.samples, and mine_ then counts `batch` too. Returns what
// the backward pass has to do with them.
template <class T>
Gradients Replica<T>::forward(const Batch<T>& batch) {
  const Score score = model_.forward(batch);
  const Gradients gradients = mine_.samples > 0 ? Gradients::kAdd : Gradients::kOverwrite;
  mine_.loss += score.loss;
  mine_.correct += score.correct;
  mine_.samples += score.samples;
  return gradients;
}

// The score is known before the backward pass, and travels while that computes.
template <class T>
Score Replica<T>::step(const Batch<T>& batch, const StepPlace& place) {
  const Gradients gradients = forward(batch);
  const Score mine = std::exchange(mine_, {});
  check_finite("loss", mine.loss, place);
  std::array<double, kScoreElementCount> sums{};
  sums[kLoss] = mine.loss;
  sums[kCorrect] = static_cast<double>(mine.correct);
  buckets_.begin_step(mine.samples, sums);
  buckets_.send_sums();
  model_.backward(gradient_ready_, gradients);

  const auto samples = static_cast<std::size_t>(buckets_.world_sample_count());
  const std::span<const double> world = buckets_.world_sums();
  const Score score{world[kLoss], static_cast<std::size_t>(world[kCorrect]), samples};
  check_finite("loss", score.loss, place);
  if (samples > 0) update(samples, place);
  buckets_.wait();
  return score;
}

// In the order of arrival: the last layers are updated while the first ones still travel. What is
// to be clipped has to arrive first, all of it.
template <class T>
void Replica<T>::update(std::uint64_t world_sample_count, const StepPlace& place) {
  T scale = T{1} / static_cast<T>(world_sample_count);
  if (max_gradient_norm_ > 0) scale *= static_cast<T>(clipping_factor(world_sample_count, place));
  optimizer_.begin_step(place.learning_rate_factor);
  for (std::size_t index = values_.size(); index-- > 0;) {
    wait_for(index);
    optimizer_.update(index, values_[index], buckets_.gradient(index), scale);
  }
}

// From sums that have the same bits on every rank, in one order: so it has, too.
template <class T>
double Replica<T>::clipping_factor(std::uint64_t world_sample_count, const StepPlace& place) {
  double square = 0;
  for (std::size_t index = values_.size(); index-- > 0;) {
    wait_for(index);
    square += training::squared_norm<T>(buckets_.gradient(index));
  }
  const double norm = std::sqrt(square) / static_cast<double>(world_sample_count);
  check_finite("norm of the gradient", norm, place);
  return norm > max_gradient_norm_ ? max_gradient_norm_ / norm : 1;
}

template <class T>
void Replica<T>::wait_for(std::size_t parameter) {
  buckets_.wait(buckets_.layout().bucket_of[parameter]);
}

template <class T>
void Replica<T>::check_finite(const char* what, double value, const StepPlace& place) {
  if (std::isfinite(value)) return;
  const std::string why = std::string("the ") + what + " is " +
                          (std::isnan(value) ? "not a number" : "infinite") + " in step " +
                          std::to_string(place.step) + " of epoch " + std::to_string(place.epoch) +
                          ": try a lower learning rate";
  communicator_.abort(why);  // Which puts this rank in front of it.
  throw Error(ErrorCode::kNotFinite, "rank " + std::to_string(communicator_.rank()) + ": " + why);
}

template <class T>
Score Replica<T>::sum_over_world(const Score& score) {
  std::array<double, 3> sums = {score.loss, static_cast<double>(score.correct),
                                static_cast<double>(score.samples)};
  communicator_.all_reduce(sums, ReduceOp::kSum);
  return {sums[0], static_cast<std::size_t>(sums[1]), static_cast<std::size_t>(sums[2])};
}

// A rank's own pieces are of no use to another rank, or in another world.
template <class T>
void Replica<T>::visit_state(StateVisitor& visitor) {
  if (mine_.samples > 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "a replica has no state in the middle of a step: samples were accumulated");
  }
  visitor.visit_fact({.name = "world of"}, std::to_string(communicator_.world_size()) + " ranks");
  visitor.visit_fact({.name = "rank", .owner = StateOwner::kRank},
                     std::to_string(communicator_.rank()));
  for (const auto& [name, value] : facts_) visitor.visit_fact({.name = name}, value);
  buckets_.visit_state(visitor);
  const std::span<const ParameterInfo> parameters = model_.parameters();
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    visitor.visit_tensor({.name = "model/" + parameters[index].name}, parameters[index].shape,
                         values_[index]);
  }
  optimizer_.visit_state(visitor, parameters);
}

template <class T>
State Replica<T>::state() {
  return copy_state([this](StateVisitor& visitor) { visit_state(visitor); });
}

template <class T>
void Replica<T>::give_state(const State& state) {
  training::give_state(communicator_, state,
                       [this](StateVisitor& visitor) { visit_state(visitor); });
}

template <class T>
std::uint64_t Replica<T>::weights_hash() const noexcept {
  std::uint64_t hash = base::kFnvStart;
  for (const std::span<T>& values : values_) hash = base::fnv1a(std::as_bytes(values), hash);
  return hash;
}

template class Replica<float>;
template class Replica<double>;

}  // namespace rota
