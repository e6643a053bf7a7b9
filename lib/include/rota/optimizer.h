// How gradients change parameters.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include <rota/export.h>
#include <rota/model.h>
#include <rota/training_state.h>

namespace rota {

// velocity = momentum * velocity + gradient + weight_decay * value;  value -= learning_rate *
// velocity
struct Sgd {
  double learning_rate = 0.05;
  double momentum = 0;
  double weight_decay = 0;
};

// Kingma and Ba, "Adam: a method for stochastic optimization", 2015, algorithm 1.
struct Adam {
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  // Added to the gradient, as in Sgd.
};

using OptimizerOptions = std::variant<Sgd, Adam>;

// T is float or double. The arithmetic is in T, in one fixed order, whatever the instruction set.
// Owns what it remembers of each parameter; parameters and gradients are lent for a call. One
// thread at a time.
template <class T>
class ROTA_EXPORT Optimizer {
 public:
  // `counts` are the parameters' element counts. Throws Error kInvalidArgument for a learning rate,
  // momentum, beta or epsilon outside its range.
  Optimizer(const OptimizerOptions& options, std::span<const std::size_t> counts);

  // To be called once before the updates of a step, in which the learning rate is multiplied by
  // `learning_rate_factor`.
  void begin_step(double learning_rate_factor = 1) noexcept;

  // Updates parameter `index` in place. `gradient_scale` multiplies the gradient first: 1 / samples
  // for a gradient that is a sum over samples, and less where it is clipped. Requires that both
  // spans have the parameter's count.
  void update(std::size_t index, std::span<T> values, std::span<const T> gradient,
              T gradient_scale) noexcept;

  // The count of steps, and what is remembered of each parameter: of its shape, and named after it.
  // `parameters` are those whose counts the constructor was given.
  void visit_state(StateVisitor& visitor, std::span<const ParameterInfo> parameters);

 private:
  OptimizerOptions options_;
  std::vector<std::vector<T>> first_;   // Sgd: velocity; Adam: mean of gradients.
  std::vector<std::vector<T>> second_;  // Adam: mean of squared gradients.
  std::uint64_t step_ = 0;
  double learning_rate_factor_ = 1;
};

extern template class Optimizer<float>;
extern template class Optimizer<double>;

}  // namespace rota
