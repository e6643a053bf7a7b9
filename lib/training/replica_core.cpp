// What a step does after the forward pass, in the order in which it does it.
#include <rota/replica_core.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include <rota/error.h>

#include "base/hash.h"
#include "training/agreement.h"
#include "training/squared_norm.h"
#include "training/state.h"

namespace rota {
namespace {

std::vector<std::size_t> value_counts(std::span<const ParameterInfo> parameters) {
  std::vector<std::size_t> counts;
  for (const ParameterInfo& parameter : parameters) counts.push_back(parameter.count());
  return counts;
}

template <class T>
Block allocate_values(Communicator& communicator, std::span<const ParameterInfo> parameters) {
  constexpr std::size_t kPadding = 64 / sizeof(T);
  std::size_t count = 0;
  for (const ParameterInfo& parameter : parameters) {
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
ReplicaCore<T>::ReplicaCore(Communicator& communicator, std::span<const ParameterInfo> parameters,
                            const ReplicaOptions& options)
    : communicator_(communicator),
      max_gradient_norm_(checked_norm(options.max_gradient_norm)),
      facts_(facts_of<T>(options)),
      parameters_(parameters.begin(), parameters.end()),
      memory_(allocate_values<T>(communicator, parameters)),
      buckets_(communicator, value_counts(parameters), options.buckets),
      optimizer_(options.optimizer, value_counts(parameters)),
      gradient_ready_([this](std::size_t parameter) { buckets_.ready(parameter); }) {
  training::check_agreement(communicator, joined(training::facts_of(parameters), facts_));
  constexpr std::size_t kValuesAlignment = 64;
  std::span<T> rest(reinterpret_cast<T*>(memory_.bytes().data()),
                    memory_.bytes().size() / sizeof(T));
  for (const ParameterInfo& parameter : parameters_) {
    const std::size_t count = parameter.count();
    values_.push_back(rest.first(count));
    rest = rest.subspan((count * sizeof(T) + kValuesAlignment - 1) / kValuesAlignment *
                        kValuesAlignment / sizeof(T));
  }
}

template <class T>
void ReplicaCore<T>::share_parameters() {
  const std::span<T> all(reinterpret_cast<T*>(memory_.bytes().data()),
                         memory_.bytes().size() / sizeof(T));
  communicator_.broadcast(all, 0);
}

template <class T>
void ReplicaCore<T>::begin_step(std::uint64_t samples, std::span<const double> sums,
                                const StepPlace& place) {
  if (!sums.empty()) check_finite("loss", sums.front(), place);
  buckets_.begin_step(samples, sums);
  buckets_.send_sums();
}

template <class T>
std::uint64_t ReplicaCore<T>::finish_step(const StepPlace& place) {
  const std::uint64_t samples = buckets_.world_sample_count();
  const std::span<const double> sums = buckets_.world_sums();
  if (!sums.empty()) check_finite("loss", sums.front(), place);
  if (samples > 0) update(samples, place);
  buckets_.wait();
  return samples;
}

// In the order of arrival: the last layers are updated while the first ones still travel. What is
// to be clipped has to arrive first, all of it.
template <class T>
void ReplicaCore<T>::update(std::uint64_t world_sample_count, const StepPlace& place) {
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
double ReplicaCore<T>::clipping_factor(std::uint64_t world_sample_count, const StepPlace& place) {
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
void ReplicaCore<T>::wait_for(std::size_t parameter) {
  buckets_.wait(buckets_.layout().bucket_of[parameter]);
}

template <class T>
void ReplicaCore<T>::check_finite(const char* what, double value, const StepPlace& place) {
  if (std::isfinite(value)) return;
  const std::string why = std::string("the ") + what + " is " +
                          (std::isnan(value) ? "not a number" : "infinite") + " in step " +
                          std::to_string(place.step) + " of epoch " + std::to_string(place.epoch) +
                          ": try a lower learning rate";
  communicator_.abort(why);  // Which puts this rank in front of it.
  throw Error(ErrorCode::kNotFinite, "rank " + std::to_string(communicator_.rank()) + ": " + why);
}

template <class T>
std::uint64_t ReplicaCore<T>::sum_over_world(std::uint64_t samples, std::span<double> sums) {
  std::vector<double> all(sums.begin(), sums.end());
  all.push_back(static_cast<double>(samples));
  communicator_.all_reduce(all, ReduceOp::kSum);
  std::copy(all.begin(), all.end() - 1, sums.begin());
  return static_cast<std::uint64_t>(all.back());
}

// A rank's own pieces are of no use to another rank, or in another world.
template <class T>
void ReplicaCore<T>::visit_state(StateVisitor& visitor) {
  visitor.visit_fact({.name = "world of"}, std::to_string(communicator_.world_size()) + " ranks");
  visitor.visit_fact({.name = "rank", .owner = StateOwner::kRank},
                     std::to_string(communicator_.rank()));
  for (const auto& [name, value] : facts_) visitor.visit_fact({.name = name}, value);
  buckets_.visit_state(visitor);
  for (std::size_t index = 0; index < parameters_.size(); ++index) {
    visitor.visit_tensor({.name = "model/" + parameters_[index].name}, parameters_[index].shape,
                         values_[index]);
  }
  optimizer_.visit_state(visitor, parameters_);
}

template <class T>
void ReplicaCore<T>::give_state(const State& state, const StateVisit& visit) {
  training::give_state(communicator_, state, visit);
}

template <class T>
std::uint64_t ReplicaCore<T>::weights_hash() const noexcept {
  std::uint64_t hash = base::kFnvStart;
  for (const std::span<T>& values : values_) hash = base::fnv1a(std::as_bytes(values), hash);
  return hash;
}

template class ReplicaCore<float>;
template class ReplicaCore<double>;

}  // namespace rota
