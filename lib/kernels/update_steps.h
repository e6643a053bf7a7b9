// Has the steps of optimizers: what a kernel does to one parameter, or to a register of parameters.
// Kernels for CPUs and for GPUs have the same source. The including file first defines ROTA_TARGET,
// and square_root, which rounds each root to nearest.
#pragma once
#include "kernels/lanes.h"
#include "kernels/optimizers.h"

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

template <class L, class T>
ROTA_TARGET ROTA_INLINE void sgd_step(L& value, L& velocity, L gradient,
                                      const Hyperparameters<T>& hyperparameters) noexcept {
  const auto& [learning_rate, momentum, weight_decay, gradient_scale] = hyperparameters;
  const L g = gradient * gradient_scale + weight_decay * value;
  velocity = momentum * velocity + g;
  value -= learning_rate * velocity;
}

template <class L, class T>
ROTA_TARGET ROTA_INLINE void adam_step(L& value, L& mean, L& mean_square, L gradient,
                                       const AdamFactors<T>& factors) noexcept {
  const auto& [beta1, beta2, weight_decay, rate, correction, epsilon, gradient_scale] = factors;
  const L g = gradient * gradient_scale + weight_decay * value;
  mean = beta1 * mean + (1 - beta1) * g;
  mean_square = beta2 * mean_square + (1 - beta2) * (g * g);
  value -= rate * mean / (square_root(mean_square * correction) + epsilon);
}

}  // namespace
}  // namespace rota::kernels::cpu
