// Defines the optimizers, which change parameters by their gradients.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include <rota/cuda_stream.h>
#include <rota/export.h>
#include <rota/model.h>
#include <rota/training_state.h>

namespace rota {
namespace kernels {
struct Optimizers;
}  // namespace kernels

//   velocity = momentum * velocity + gradient + weight_decay * value
//   value -= learning_rate * velocity
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

// T is float or double. Computes in T, in one fixed order, with every instruction set. Owns the
// values that it keeps for each parameter; parameters and gradients are borrowed for a call. One
// thread at a time may use an Optimizer.
template <class T>
class ROTA_EXPORT Optimizer {
 public:
  // `counts` are the element counts of the parameters. `variant` names the kernels for updates on
  // the host, as CommunicatorOptions::kernels does. Throws Error kInvalidArgument for a learning
  // rate, momentum, beta, epsilon or weight decay outside of its range, and for kernels that this
  // machine lacks.
  Optimizer(const OptimizerOptions& options, std::span<const std::size_t> counts,
            std::string_view variant = {});

  std::string_view variant() const noexcept;  // The variant of the kernels, such as "avx2".

  // Must be called once before the updates of a step. The updates of this step multiply the
  // learning rate by `learning_rate_factor`.
  void begin_step(double learning_rate_factor = 1) noexcept;

  // Updates parameter `index` in place. Multiplies the gradient by `gradient_scale` first. The
  // scale is 1 / samples for a gradient that is a sum over samples, and smaller if the gradient is
  // clipped. Requires that both spans have the count of the parameter.
  void update(std::size_t index, std::span<T> values, std::span<const T> gradient,
              T gradient_scale) noexcept;

  // Returns the sum of the squares of `values`, computed in double. The order of the additions, and
  // so the bits, depend on the number of values alone.
  double squared_norm(std::span<const T> values) const noexcept;

  // Updates `count` parameters on a device, by work that is put on a stream. All arrays are memory
  // of this device. `kept` has kept_count() of them, zeroed before the first step: what the
  // optimizer keeps for these parameters. Requires that T is float. Throws Error kSystem.
  void update_on(const cuda::On& on, T* values, std::span<T* const> kept, const T* gradient,
                 std::size_t count, T gradient_scale) const;
  std::size_t kept_count() const noexcept;

  // Visits the count of steps, and the values that the optimizer keeps for each parameter. These
  // values have the shape of their parameter, and are named after it. `parameters` must be the ones
  // whose counts the constructor got.
  void visit_state(StateVisitor& visitor, std::span<const ParameterInfo> parameters);

 private:
  OptimizerOptions options_;
  const kernels::Optimizers* kernels_;
  std::vector<std::vector<T>> first_;   // Sgd: velocity; Adam: mean of gradients.
  std::vector<std::vector<T>> second_;  // Adam: mean of squared gradients.
  std::uint64_t step_ = 0;
  double learning_rate_factor_ = 1;
};

extern template class Optimizer<float>;
extern template class Optimizer<double>;

}  // namespace rota
