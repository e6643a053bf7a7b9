// An Optimizer checks the options, keeps values for each parameter between steps, and updates the
// parameters.
#include <rota/error.h>
#include <rota/optimizer.h>

#include <cmath>
#include <string>
#include <type_traits>

#include "base/assert.h"
#include "base/number_text.h"
#include "device/calls.h"
#include "kernels/optimizers.h"

namespace rota {
namespace {

void require(bool condition, const char* name, double value, const char* range) {
  if (condition) return;
  throw Error(ErrorCode::kInvalidArgument,
              std::string(name) + " is " + base::shortest_text(value) + "; it must be " + range);
}

void check_rate(double value) {
  require(value >= 0 && std::isfinite(value), "learning_rate", value, "finite and not negative");
}
void check_decay(double value) {
  require(value >= 0 && std::isfinite(value), "weight_decay", value, "finite and not negative");
}
// With T = float, a share such as 0.99999999 becomes 1, and a tiny epsilon 0. Then means would not
// change any more, and values would become NaN.
template <class T>
void check_share(const char* name, double value) {
  require(value >= 0 && value < 1, name, value, "at least 0 and below 1");
  require(static_cast<T>(value) < 1, name, value, "below 1 after rounding to float32");
}

template <class T>
void check(const Sgd& sgd) {
  check_rate(sgd.learning_rate);
  check_share<T>("momentum", sgd.momentum);
  check_decay(sgd.weight_decay);
}

template <class T>
void check(const Adam& adam) {
  check_rate(adam.learning_rate);
  check_share<T>("beta1", adam.beta1);
  check_share<T>("beta2", adam.beta2);
  require(adam.epsilon > 0 && std::isfinite(adam.epsilon), "epsilon", adam.epsilon,
          "finite and above 0");
  require(static_cast<T>(adam.epsilon) > 0, "epsilon", adam.epsilon,
          "above 0 after rounding to float32");
  check_decay(adam.weight_decay);
}

// Returns base^exponent by multiplications, in an order that the exponent alone decides. std::pow
// may have other bits in another C library, and so a rank with that library would have other
// weights.
double power_of(double base, std::uint64_t exponent) noexcept {
  double power = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) power *= base;
    base *= base;
  }
  return power;
}

template <class T>
kernels::AdamFactors<T> factors_at(const Adam& adam, double learning_rate, std::uint64_t step,
                                   T gradient_scale) noexcept {
  return {static_cast<T>(adam.beta1),
          static_cast<T>(adam.beta2),
          static_cast<T>(adam.weight_decay),
          static_cast<T>(learning_rate / (1 - power_of(adam.beta1, step))),
          static_cast<T>(1 / (1 - power_of(adam.beta2, step))),
          static_cast<T>(adam.epsilon),
          gradient_scale};
}

template <class T>
kernels::Hyperparameters<T> factors_at(const Sgd& sgd, double learning_rate,
                                       T gradient_scale) noexcept {
  return {static_cast<T>(learning_rate), static_cast<T>(sgd.momentum),
          static_cast<T>(sgd.weight_decay), gradient_scale};
}

}  // namespace

// The kernels are chosen once: querying the processor may take longer than a small update.
template <class T>
Optimizer<T>::Optimizer(const OptimizerOptions& options, std::span<const std::size_t> counts,
                        std::string_view variant)
    : options_(options), kernels_(&kernels::select<kernels::Optimizers>(variant)) {
  std::visit([](const auto& chosen) { check<T>(chosen); }, options);
  for (std::size_t count : counts) {
    first_.emplace_back(count);
    if (std::holds_alternative<Adam>(options)) second_.emplace_back(count);
  }
}

template <class T>
std::string_view Optimizer<T>::variant() const noexcept {
  return kernels_->variant->name;
}

template <class T>
void Optimizer<T>::begin_step(double learning_rate_factor) noexcept {
  ++step_;
  learning_rate_factor_ = learning_rate_factor;
}

template <class T>
void Optimizer<T>::update(std::size_t index, std::span<T> values, std::span<const T> gradient,
                          T gradient_scale) noexcept {
  ROTA_ASSERT(index < first_.size());
  ROTA_ASSERT(values.size() == first_[index].size() && gradient.size() == values.size());
  if (const auto* sgd = std::get_if<Sgd>(&options_)) {
    kernels_->updates<T>().sgd(
        values.data(), first_[index].data(), gradient.data(), values.size(),
        factors_at<T>(*sgd, sgd->learning_rate * learning_rate_factor_, gradient_scale));
    return;
  }
  const Adam& adam = std::get<Adam>(options_);
  kernels_->updates<T>().adam(
      values.data(), first_[index].data(), second_[index].data(), gradient.data(), values.size(),
      factors_at<T>(adam, adam.learning_rate * learning_rate_factor_, step_, gradient_scale));
}

template <class T>
double Optimizer<T>::squared_norm(std::span<const T> values) const noexcept {
  return kernels_->updates<T>().squared_norm(values.data(), values.size());
}

template <class T>
void Optimizer<T>::update_on(const cuda::On& on, T* values, std::span<T* const> kept,
                             const T* gradient, std::size_t count, T gradient_scale) const {
  ROTA_ASSERT(kept.size() == kept_count());
  if constexpr (std::is_same_v<T, float>) {
    const cuda::ModelCalls& models = device::calls().models;
    int error = 0;
    if (const auto* sgd = std::get_if<Sgd>(&options_)) {
      const auto [learning_rate, momentum, weight_decay, scale] =
          factors_at<T>(*sgd, sgd->learning_rate * learning_rate_factor_, gradient_scale);
      error = models.sgd(on, values, kept[0], gradient, count,
                         {learning_rate, momentum, weight_decay, scale});
    } else {
      const Adam& adam = std::get<Adam>(options_);
      const auto [beta1, beta2, weight_decay, rate, correction, epsilon, scale] =
          factors_at<T>(adam, adam.learning_rate * learning_rate_factor_, step_, gradient_scale);
      error = models.adam(on, values, kept[0], kept[1], gradient, count,
                          {beta1, beta2, weight_decay, rate, correction, epsilon, scale});
    }
    device::check(error, on.device, "the update of parameters");
  }
}

template <class T>
std::size_t Optimizer<T>::kept_count() const noexcept {
  return std::holds_alternative<Adam>(options_) ? 2 : 1;
}

template <class T>
void Optimizer<T>::visit_state(StateVisitor& visitor, std::span<const ParameterInfo> parameters) {
  ROTA_ASSERT(parameters.size() == first_.size());
  const bool is_adam = std::holds_alternative<Adam>(options_);
  visitor.visit_counter({.name = "optimizer/step"}, step_);
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    const ParameterInfo& parameter = parameters[index];
    const std::string name = "optimizer/" + parameter.name;
    const auto visit = [&](const std::string& what, std::vector<T>& kept) {
      visitor.visit_tensor({.name = name + what, .writer = StateWriter::kUpdate, .index = index},
                           parameter.shape, kept);
    };
    visit(is_adam ? "/mean" : "/velocity", first_[index]);
    if (is_adam) visit("/mean of squares", second_[index]);
  }
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace rota
