// Has the kernels of optimizers, which change the parameters of a model in each step, and of the
// norm by which gradients are clipped.
#pragma once
#include <cstddef>
#include <span>

#include "kernels/variant.h"

namespace rota::kernels {

template <class T>
struct Hyperparameters {  // For an update by SGD; rota::Sgd explains them.
  T learning_rate;
  T momentum;
  T weight_decay;
  T gradient_scale;
};

template <class T>
struct AdamFactors {  // For an update by Adam; rota::Adam explains them.
  T beta1;
  T beta2;
  T weight_decay;
  T rate;        // learning_rate / (1 - beta1^step)
  T correction;  // 1 / (1 - beta2^step)
  T epsilon;
  T gradient_scale;
};

template <class T>
struct Updates {  // For parameters of one type. Arrays must not overlap.
  // g = gradient[i] * gradient_scale + weight_decay * values[i];
  // velocity[i] = momentum * velocity[i] + g;  values[i] -= learning_rate * velocity[i]
  void (*sgd)(T* values, T* velocity, const T* gradient, std::size_t count,
              const Hyperparameters<T>& hyperparameters) noexcept;
  // g = gradient[i] * gradient_scale + weight_decay * values[i];
  // mean[i] = beta1 * mean[i] + (1 - beta1) * g;
  // mean_square[i] = beta2 * mean_square[i] + (1 - beta2) * g^2;
  // values[i] -= rate * mean[i] / (sqrt(mean_square[i] * correction) + epsilon)
  void (*adam)(T* values, T* mean, T* mean_square, const T* gradient, std::size_t count,
               const AdamFactors<T>& factors) noexcept;
  // Returns the sum of the squares of `values`, in double, in the order of norm_order.h.
  double (*squared_norm)(const T* values, std::size_t count) noexcept;
};

struct Optimizers {
  static std::span<const Optimizers* const> table() noexcept;  // Best first; the last is "scalar".

  const Variant* variant;
  Updates<float> float32;
  Updates<double> float64;

  template <class T>
  const Updates<T>& updates() const noexcept {
    if constexpr (sizeof(T) == sizeof(float)) {
      return float32;
    } else {
      return float64;
    }
  }
};

}  // namespace rota::kernels
