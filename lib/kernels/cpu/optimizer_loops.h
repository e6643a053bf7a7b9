// The loops of optimizers.h, written once for every instruction set. Its file first defines what
// lanes.h asks for.
#pragma once
#include "kernels/cpu/lanes.h"
#include "kernels/optimizers.h"

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

template <class L, class T>
ROTA_TARGET void sgd_step(L& value, L& velocity, L gradient,
                          const Hyperparameters<T>& hyperparameters) noexcept {
  const auto& [learning_rate, momentum, weight_decay, gradient_scale] = hyperparameters;
  const L g = gradient * gradient_scale + weight_decay * value;
  velocity = momentum * velocity + g;
  value -= learning_rate * velocity;
}

template <class T>
ROTA_TARGET void sgd_update(T* values, T* velocity, const T* gradient, std::size_t count,
                            const Hyperparameters<T>& hyperparameters) noexcept {
  const Hyperparameters<T> constants = hyperparameters;  // A copy, which no store can change.
  auto* value_bytes = reinterpret_cast<std::byte*>(values);
  auto* velocity_bytes = reinterpret_cast<std::byte*>(velocity);
  const auto* gradient_bytes = reinterpret_cast<const std::byte*>(gradient);
  for (; count >= Same<T>::kCount; count -= Same<T>::kCount) {
    Lanes<T> value = Same<T>::load(value_bytes);
    Lanes<T> v = Same<T>::load(velocity_bytes);
    sgd_step(value, v, Same<T>::load(gradient_bytes), constants);
    Same<T>::store(value_bytes, value);
    Same<T>::store(velocity_bytes, v);
    value_bytes += sizeof(Lanes<T>);
    velocity_bytes += sizeof(Lanes<T>);
    gradient_bytes += sizeof(Lanes<T>);
  }
  if (count == 0) return;
  Lanes<T> value = load_some<Same<T>>(value_bytes, count);
  Lanes<T> v = load_some<Same<T>>(velocity_bytes, count);
  sgd_step(value, v, load_some<Same<T>>(gradient_bytes, count), constants);
  store_some<Same<T>>(value_bytes, value, count);
  store_some<Same<T>>(velocity_bytes, v, count);
}

constexpr Optimizers make_optimizers(const Variant& variant) noexcept {
  return {&variant, {sgd_update<float>}, {sgd_update<double>}};
}

}  // namespace
}  // namespace rota::kernels::cpu
