// Optimizer: checks the options and keeps what each parameter remembers between steps.
#include <rota/error.h>
#include <rota/optimizer.h>

#include <cmath>
#include <sstream>

#include "base/assert.h"
#include "kernels/optimizers.h"

namespace rota {
namespace {

void require(bool condition, const char* name, double value, const char* range) {
  if (condition) return;
  std::ostringstream text;
  text << name << " is " << value << "; it must be " << range;
  throw Error(ErrorCode::kInvalidArgument, text.str());
}

void check_rate(double value) {
  require(value >= 0 && std::isfinite(value), "learning_rate", value, "finite and not negative");
}
void check_decay(double value) {
  require(value >= 0 && std::isfinite(value), "weight_decay", value, "finite and not negative");
}
void check_share(const char* name, double value) {
  require(value >= 0 && value < 1, name, value, "at least 0 and below 1");
}

void check(const Sgd& sgd) {
  check_rate(sgd.learning_rate);
  check_share("momentum", sgd.momentum);
  check_decay(sgd.weight_decay);
}

void check(const Adam& adam) {
  check_rate(adam.learning_rate);
  check_share("beta1", adam.beta1);
  check_share("beta2", adam.beta2);
  require(adam.epsilon > 0 && std::isfinite(adam.epsilon), "epsilon", adam.epsilon,
          "finite and above 0");
  check_decay(adam.weight_decay);
}

template <class T>
struct AdamFactors {
  T beta1;
  T beta2;
  T weight_decay;
  T rate;        // learning_rate / (1 - beta1^step)
  T correction;  // 1 / (1 - beta2^step)
  T epsilon;
};

template <class T>
AdamFactors<T> factors_at(const Adam& adam, double learning_rate, std::uint64_t step) noexcept {
  const auto power = static_cast<double>(step);
  return {static_cast<T>(adam.beta1),
          static_cast<T>(adam.beta2),
          static_cast<T>(adam.weight_decay),
          static_cast<T>(learning_rate / (1 - std::pow(adam.beta1, power))),
          static_cast<T>(1 / (1 - std::pow(adam.beta2, power))),
          static_cast<T>(adam.epsilon)};
}

template <class T>
struct AdamState {
  T* values;
  const T* gradient;
  T* mean;
  T* mean_square;
  std::size_t count;
};

template <class T>
void adam_update(const AdamState<T>& state, const AdamFactors<T>& factors,
                 T gradient_scale) noexcept {
  const auto [values, gradient, mean, mean_square, count] = state;
  const auto [beta1, beta2, weight_decay, rate, correction, epsilon] = factors;
  for (std::size_t i = 0; i < count; ++i) {
    const T g = gradient[i] * gradient_scale + weight_decay * values[i];
    mean[i] = beta1 * mean[i] + (1 - beta1) * g;
    mean_square[i] = beta2 * mean_square[i] + (1 - beta2) * (g * g);
    values[i] -= rate * mean[i] / (std::sqrt(mean_square[i] * correction) + epsilon);
  }
}

// Chosen once, since asking the processor what it has may take longer than a small update.
template <class T>
const kernels::Updates<T>& updates() noexcept {
  static const kernels::Updates<T>& chosen = kernels::select<kernels::Optimizers>().updates<T>();
  return chosen;
}

}  // namespace

template <class T>
Optimizer<T>::Optimizer(const OptimizerOptions& options, std::span<const std::size_t> counts)
    : options_(options) {
  std::visit([](const auto& chosen) { check(chosen); }, options);
  for (std::size_t count : counts) {
    first_.emplace_back(count);
    if (std::holds_alternative<Adam>(options)) second_.emplace_back(count);
  }
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
    updates<T>().sgd(
        values.data(), first_[index].data(), gradient.data(), values.size(),
        {static_cast<T>(sgd->learning_rate * learning_rate_factor_), static_cast<T>(sgd->momentum),
         static_cast<T>(sgd->weight_decay), gradient_scale});
    return;
  }
  const Adam& adam = std::get<Adam>(options_);
  adam_update<T>(
      {values.data(), gradient.data(), first_[index].data(), second_[index].data(), values.size()},
      factors_at<T>(adam, adam.learning_rate * learning_rate_factor_, step_), gradient_scale);
}

template <class T>
void Optimizer<T>::visit_state(StateVisitor& visitor, std::span<const ParameterInfo> parameters) {
  ROTA_ASSERT(parameters.size() == first_.size());
  const bool is_adam = std::holds_alternative<Adam>(options_);
  visitor.visit_counter({.name = "optimizer/step"}, step_);
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    const ParameterInfo& parameter = parameters[index];
    const std::string name = "optimizer/" + parameter.name;
    visitor.visit_tensor({.name = name + (is_adam ? "/mean" : "/velocity")}, parameter.shape,
                         first_[index]);
    if (is_adam) {
      visitor.visit_tensor({.name = name + "/mean of squares"}, parameter.shape, second_[index]);
    }
  }
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace rota
