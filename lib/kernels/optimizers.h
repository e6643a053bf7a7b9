// How an optimizer's step changes a model's parameters.
#pragma once
#include <cstddef>
#include <span>

#include "kernels/variant.h"

namespace rota::kernels {

template <class T>
struct Hyperparameters {  // Of an update by SGD; see rota::Sgd for what they mean.
  T learning_rate;
  T momentum;
  T weight_decay;
  T gradient_scale;
};

template <class T>
struct Updates {  // Of parameters of one type. Runs never overlap.
  // g = gradient[i] * gradient_scale + weight_decay * values[i];
  // velocity[i] = momentum * velocity[i] + g;  values[i] -= learning_rate * velocity[i]
  void (*sgd)(T* values, T* velocity, const T* gradient, std::size_t count,
              const Hyperparameters<T>& hyperparameters) noexcept;
};

struct Optimizers {
  static std::span<const Optimizers* const> table() noexcept;  // Best first; the last is scalar's.

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
