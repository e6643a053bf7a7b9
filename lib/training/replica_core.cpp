// The parts of a training step after the forward pass, in the order in which they run.
#include <rota/replica_core.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>

#include <rota/error.h>

#include "base/hash.h"
#include "base/number_text.h"
#include "checkpoint/exchange.h"
#include "training/agreement.h"
#include "training/device_replica.h"
#include "training/load_parameters.h"
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

// Returns the facts that ranks compare besides the parameters. A state must have the same facts.
template <class T>
std::vector<Agreement> facts_of(const ReplicaOptions& options, const std::string& settings,
                                std::size_t world_size) {
  constexpr StateFit kLoose = StateFit::kLoose;
  const bool is_adam = std::holds_alternative<Adam>(options.optimizer);
  std::vector<Agreement> facts = {
      {"elements of", std::is_same_v<T, float> ? "float" : "double"},
      {"optimizer", training::to_text(options.optimizer), kLoose},
      {"kind of optimizer", is_adam ? "adam" : "sgd"},
      {"largest gradient norm", base::shortest_text(options.max_gradient_norm), kLoose},
      {"buckets of",
       std::to_string(options.buckets.first_bucket_bytes) + ", then " +
           std::to_string(options.buckets.bucket_bytes_in(world_size)) + " bytes",
       kLoose}};
  if (!settings.empty()) facts.push_back({"model", settings, kLoose});
  facts.insert(facts.end(), options.agreements.begin(), options.agreements.end());
  return facts;
}

// Returns what decides the bits of a run, although ranks need not agree on it. The plan decides the
// order of sums, and the seed the rounding of codecs.
std::vector<Agreement> noted_of(const Communicator& communicator) {
  return {{"plan", std::string(communicator.plan()), StateFit::kNoted},
          {"codec seed", std::to_string(communicator.codec_seed()), StateFit::kNoted}};
}

// Adds facts to those that ranks compare. Of a noted fact, they compare the name alone.
training::Facts joined(training::Facts first, const std::vector<Agreement>& then) {
  for (const Agreement& fact : then) {
    first.emplace_back(fact.name, fact.fit == StateFit::kNoted ? "" : fact.value);
  }
  return first;
}

// Gives each noted fact the value of rank 0. A state has one text of each fact, which is the same
// on every rank: otherwise copies of a checkpoint on two hosts would differ. Collective.
void note_rank_0(Communicator& communicator, std::vector<Agreement>& facts) {
  for (Agreement& fact : facts) {
    if (fact.fit == StateFit::kNoted) {
      fact.value = checkpoint::text_of_rank_0(communicator, fact.value);
    }
  }
}

// Finds the memory of the pieces that an object visits.
class PieceFinder final : public StateVisitor {
 public:
  std::vector<std::span<float>> tensors;

  void visit_fact(const StatePiece&, const std::string&) override {}
  void visit_counter(const StatePiece&, std::uint64_t&) override {}
  void visit_tensor(const StatePiece&, std::span<const std::size_t>, Values values) override {
    tensors.emplace_back(reinterpret_cast<float*>(values.data()), values.count());
  }
};

const BucketOptions& checked_buckets(const BucketOptions& options) {
  if (options.op == ReduceOp::kSum) return options;
  throw Error(ErrorCode::kInvalidArgument,
              "a replica needs sums of gradients, since it divides them by the number of samples: "
              "BucketOptions::op must be sum, not " +
                  std::string(to_string(options.op)));
}

double checked_norm(double norm) {
  if (norm >= 0 && std::isfinite(norm)) return norm;
  throw Error(ErrorCode::kInvalidArgument, "max_gradient_norm is " + base::shortest_text(norm) +
                                               "; it must be finite and not negative");
}

}  // namespace

template <class T>
ReplicaCore<T>::ReplicaCore(Communicator& communicator, std::span<const ParameterInfo> parameters,
                            const ReplicaOptions& options, const std::string& settings,
                            const std::optional<cuda::On>& stream)
    : communicator_(communicator),
      max_gradient_norm_(checked_norm(options.max_gradient_norm)),
      facts_(facts_of<T>(options, settings, communicator.world_size())),
      parameters_(parameters.begin(), parameters.end()),
      memory_(allocate_values<T>(communicator, parameters)),
      buckets_(communicator, value_counts(parameters), checked_buckets(options.buckets)),
      optimizer_(options.optimizer, value_counts(parameters), communicator.kernels()),
      gradient_ready_([this](std::size_t parameter) {
        if (device_) return device_->ready(parameter);
        if (sends_) buckets_.ready(parameter);
      }) {
  const std::vector<Agreement> noted = noted_of(communicator);
  facts_.insert(facts_.end(), noted.begin(), noted.end());
  training::check_agreement(communicator, joined(training::facts_of(parameters), facts_));
  note_rank_0(communicator, facts_);
  constexpr std::size_t kValuesAlignment = 64;
  std::span<T> rest(reinterpret_cast<T*>(memory_.bytes().data()),
                    memory_.bytes().size() / sizeof(T));
  for (const ParameterInfo& parameter : parameters_) {
    const std::size_t count = parameter.count();
    values_.push_back(rest.first(count));
    rest = rest.subspan((count * sizeof(T) + kValuesAlignment - 1) / kValuesAlignment *
                        kValuesAlignment / sizeof(T));
  }
  if (stream) make_device_replica(*stream, options.buckets);
}

template <class T>
ReplicaCore<T>::~ReplicaCore() = default;

// A model on a device computes in float, so no other T comes here.
template <class T>
void ReplicaCore<T>::make_device_replica(const cuda::On& stream, const BucketOptions& buckets) {
  if constexpr (std::is_same_v<T, float>) {
    training::HostCopies copies;
    copies.values = values_;
    for (std::size_t index = 0; index < values_.size(); ++index) {
      copies.gradients.push_back(gradient(index));
    }
    PieceFinder kept;
    optimizer_.visit_state(kept, parameters_);
    copies.kept = std::move(kept.tensors);
    device_ = std::make_unique<training::DeviceReplica>(communicator_, stream, optimizer_, buckets,
                                                        copies);
  }
}

template <class T>
DeviceSpan<T> ReplicaCore<T>::device_values(std::size_t index) const noexcept {
  if constexpr (std::is_same_v<T, float>) return device_->values(index);
  return {};
}

template <class T>
DeviceSpan<T> ReplicaCore<T>::device_gradient(std::size_t index) const noexcept {
  if constexpr (std::is_same_v<T, float>) return device_->gradient(index);
  return {};
}

template <class T>
cuda::Handle ReplicaCore<T>::event_for_model(std::size_t index) noexcept {
  return device_->event_for_model(index);
}

template <class T>
void ReplicaCore<T>::refresh() const {
  if (!device_) return;
  device_->read_values(guard_);
  device_->read_gradients();
}

template <class T>
void ReplicaCore<T>::share_parameters() {
  const std::span<T> all(reinterpret_cast<T*>(memory_.bytes().data()),
                         memory_.bytes().size() / sizeof(T));
  if (device_) device_->read_values(guard_);
  communicator_.broadcast(all, 0);
  if (device_) device_->write_values();
}

// If no rank has samples, no rank sends gradients: the sums would have what the codec has lost so
// far, and no parameter would be updated by them. A rank with samples knows that it is not alone.
template <class T>
void ReplicaCore<T>::begin_step(std::uint64_t samples, std::span<const double> sums,
                                const StepPlace& place) {
  if (!sums.empty()) check_finite("loss", sums.front(), place);
  sums_.assign(sums.begin(), sums.end());
  sums_.insert(sums_.end(), place.more_sums.begin(), place.more_sums.end());
  if (device_) return device_->begin_step(samples, sums_);
  buckets_.begin_step(samples, sums_);
  buckets_.send_sums();
  sends_ = samples > 0 || buckets_.world_sample_count() > 0;
}

template <class T>
const std::function<void(std::size_t)>& ReplicaCore<T>::gradient_ready() noexcept {
  if (device_) device_->begin_pass();
  return gradient_ready_;
}

template <class T>
std::span<const double> ReplicaCore<T>::world_sums() {
  return device_ ? device_->buckets().world_sums() : buckets_.world_sums();
}

template <class T>
void ReplicaCore<T>::settle() {
  if (device_) device_->settle();
}

template <class T>
std::uint64_t ReplicaCore<T>::finish_step(const StepPlace& place) {
  const std::uint64_t samples =
      device_ ? device_->buckets().world_sample_count() : buckets_.world_sample_count();
  const std::span<const double> sums = world_sums();
  if (sums.size() > place.more_sums.size()) check_finite("loss", sums.front(), place);
  if (samples > 0) update(samples, place);
  if (guard_ != nullptr && (device_ || samples == 0)) guard_->skip_update();
  if (device_) {
    device_->finish_step();
  } else if (sends_) {
    buckets_.wait();
  }
  return samples;
}

// Updates the parameters in the order in which their sums arrive: the last layers are updated while
// the sums of the first layers still travel. Clipping needs all sums first.
template <class T>
void ReplicaCore<T>::update(std::uint64_t world_sample_count, const StepPlace& place) {
  T scale = T{1} / static_cast<T>(world_sample_count);
  if (max_gradient_norm_ > 0) scale *= static_cast<T>(clipping_factor(world_sample_count, place));
  optimizer_.begin_step(place.learning_rate_factor);
  if (device_) return device_->update(static_cast<float>(scale));
  for (std::size_t index = values_.size(); index-- > 0;) {
    wait_for(index);
    if (guard_ != nullptr) guard_->before_update(index);
    optimizer_.update(index, values_[index], buckets_.gradient(index), scale);
  }
}

// The factor is computed from sums that have the same bits on every rank, in one order, on the host
// as on a device. So the factor has the same bits, too.
template <class T>
double ReplicaCore<T>::clipping_factor(std::uint64_t world_sample_count, const StepPlace& place) {
  const double norm = std::sqrt(device_ ? device_->squared_norm() : squared_norm()) /
                      static_cast<double>(world_sample_count);
  check_finite("norm of the gradient", norm, place);
  return norm > max_gradient_norm_ ? max_gradient_norm_ / norm : 1;
}

template <class T>
double ReplicaCore<T>::squared_norm() {
  double square = 0;
  for (std::size_t bucket = 0; bucket < buckets_.layout().buckets.size(); ++bucket) {
    buckets_.wait(bucket);
    square += optimizer_.squared_norm(buckets_.bucket_values(bucket));
  }
  return square;
}

template <class T>
double ReplicaCore<T>::waited_seconds() const noexcept {
  return device_ ? device_->buckets().waited_seconds() : buckets_.waited_seconds();
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
  communicator_.abort(why);  // abort() puts this rank before the text.
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

template <class T>
void ReplicaCore<T>::set_guard(StepGuard* guard) noexcept {
  guard_ = guard;
  buckets_.set_guard(guard);
}

// Tells the guard that all values may change outside of a step. A copy of them may be under way.
template <class T>
void ReplicaCore<T>::announce_change() {
  if (guard_ == nullptr) return;
  for (std::size_t bucket = 0; bucket < buckets_.layout().buckets.size(); ++bucket) {
    guard_->before_send(bucket);
  }
  for (std::size_t index = values_.size(); index-- > 0;) guard_->before_update(index);
}

template <class T>
void ReplicaCore<T>::load(const SafetensorsFile& file) {
  announce_change();
  const std::vector<Values> values(values_.begin(), values_.end());
  training::load_parameters(communicator_, parameters_, values, file);
  if (device_) device_->write_values();
}

template <class T>
std::vector<NamedTensor> ReplicaCore<T>::tensors() const {
  if (device_) device_->read_values(guard_);
  std::vector<NamedTensor> tensors;
  for (std::size_t index = 0; index < parameters_.size(); ++index) {
    const ParameterInfo& parameter = parameters_[index];
    tensors.push_back({.name = parameter.name, .shape = parameter.shape, .values = values_[index]});
  }
  return tensors;
}

template <class T>
std::vector<NamedTensor> ReplicaCore<T>::gradients() const {
  if (device_) device_->read_gradients();
  std::vector<NamedTensor> gradients = tensors();
  for (std::size_t index = 0; index < gradients.size(); ++index) {
    gradients[index].values = gradient(index);
  }
  return gradients;
}

// Some pieces belong to one rank. So the rank and the size of the world are facts of the state. A
// visitor sees the copies of what is on a device, and may change them.
template <class T>
void ReplicaCore<T>::visit_state(StateVisitor& visitor) {
  if (device_) {
    device_->settle();
    device_->read_state(guard_);
  }
  visitor.visit_fact({.name = "world of", .fit = StateFit::kLoose},
                     std::to_string(communicator_.world_size()) + " ranks");
  visitor.visit_fact({.name = "rank", .owner = StateOwner::kRank, .fit = StateFit::kLoose},
                     std::to_string(communicator_.rank()));
  for (const auto& [name, value, fit] : facts_) {
    visitor.visit_fact({.name = name, .fit = fit}, value);
  }
  device_ ? device_->buckets().visit_state(visitor) : buckets_.visit_state(visitor);
  for (std::size_t index = 0; index < parameters_.size(); ++index) {
    visitor.visit_tensor({.name = "model/" + parameters_[index].name,
                          .writer = StateWriter::kUpdate,
                          .index = index},
                         parameters_[index].shape, values_[index]);
  }
  optimizer_.visit_state(visitor, parameters_);
  if (device_ && visitor.writes()) device_->write_state();
}

template <class T>
void ReplicaCore<T>::give_state(const State& state, const StateVisit& visit) {
  announce_change();
  training::give_state(communicator_, state, visit);
}

template <class T>
std::uint64_t ReplicaCore<T>::weights_hash() const {
  if (device_) device_->read_values(guard_);
  std::uint64_t hash = base::kFnvStart;
  for (const std::span<T>& values : values_) hash = base::fnv1a(std::as_bytes(values), hash);
  return hash;
}

template class ReplicaCore<float>;
template class ReplicaCore<double>;

}  // namespace rota
