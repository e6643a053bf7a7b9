// Has the loops of optimizers.h, written once for all instruction sets. The including file first
// defines what lanes.h and update_steps.h need.
#pragma once
#include "kernels/cpu/norm_loops.h"
#include "kernels/lanes.h"
#include "kernels/optimizers.h"
#include "kernels/update_steps.h"

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

// Does all turns of so many registers, and moves on to what is left.
template <class Turn, class T>
ROTA_TARGET ROTA_INLINE void sgd_turns(std::byte*& values, std::byte*& velocity,
                                       const std::byte*& gradient, std::size_t& count,
                                       const Hyperparameters<T>& hyperparameters) noexcept {
  for (; count >= Turn::kCount; count -= Turn::kCount) {
    auto value = Turn::load(values);
    auto v = Turn::load(velocity);
    const auto g = Turn::load(gradient);
    ROTA_UNROLL for (std::size_t i = 0; i < Turn::Registers::kSize; ++i) {
      sgd_step(value.each[i], v.each[i], g.each[i], hyperparameters);
    }
    Turn::store(values, value);
    Turn::store(velocity, v);
    Turn::pass(values);
    Turn::pass(velocity);
    Turn::pass(gradient);
  }
}

template <class T>
ROTA_TARGET void sgd_update(T* values, T* velocity, const T* gradient, std::size_t count,
                            const Hyperparameters<T>& hyperparameters) noexcept {
  const Hyperparameters<T> constants = hyperparameters;  // A copy that no store can change.
  auto* value_bytes = reinterpret_cast<std::byte*>(values);
  auto* velocity_bytes = reinterpret_cast<std::byte*>(velocity);
  const auto* gradient_bytes = reinterpret_cast<const std::byte*>(gradient);
  sgd_turns<Grouped<Same<T>, kHalfTurn>>(value_bytes, velocity_bytes, gradient_bytes, count,
                                         constants);
  if constexpr (kHalfTurn > 1) {
    sgd_turns<Grouped<Same<T>, 1>>(value_bytes, velocity_bytes, gradient_bytes, count, constants);
  }
  if (count == 0) return;
  Lanes<T> value = load_some<Same<T>>(value_bytes, count);
  Lanes<T> v = load_some<Same<T>>(velocity_bytes, count);
  sgd_step(value, v, load_some<Same<T>>(gradient_bytes, count), constants);
  store_some<Same<T>>(value_bytes, value, count);
  store_some<Same<T>>(velocity_bytes, v, count);
}

template <class T>
ROTA_TARGET void adam_update(T* values, T* mean, T* mean_square, const T* gradient,
                             std::size_t count, const AdamFactors<T>& factors) noexcept {
  const AdamFactors<T> constants = factors;  // A copy that no store can change.
  auto* value_bytes = reinterpret_cast<std::byte*>(values);
  auto* mean_bytes = reinterpret_cast<std::byte*>(mean);
  auto* square_bytes = reinterpret_cast<std::byte*>(mean_square);
  const auto* gradient_bytes = reinterpret_cast<const std::byte*>(gradient);
  for (; count >= Same<T>::kCount; count -= Same<T>::kCount) {
    Lanes<T> value = Same<T>::load(value_bytes);
    Lanes<T> m = Same<T>::load(mean_bytes);
    Lanes<T> square = Same<T>::load(square_bytes);
    adam_step(value, m, square, Same<T>::load(gradient_bytes), constants);
    Same<T>::store(value_bytes, value);
    Same<T>::store(mean_bytes, m);
    Same<T>::store(square_bytes, square);
    value_bytes += sizeof(Lanes<T>);
    mean_bytes += sizeof(Lanes<T>);
    square_bytes += sizeof(Lanes<T>);
    gradient_bytes += sizeof(Lanes<T>);
  }
  if (count == 0) return;
  Lanes<T> value = load_some<Same<T>>(value_bytes, count);
  Lanes<T> m = load_some<Same<T>>(mean_bytes, count);
  Lanes<T> square = load_some<Same<T>>(square_bytes, count);
  adam_step(value, m, square, load_some<Same<T>>(gradient_bytes, count), constants);
  store_some<Same<T>>(value_bytes, value, count);
  store_some<Same<T>>(mean_bytes, m, count);
  store_some<Same<T>>(square_bytes, square, count);
}

constexpr Optimizers make_optimizers(const Variant& variant) noexcept {
  return {&variant,
          {sgd_update<float>, adam_update<float>, squared_norm<float>},
          {sgd_update<double>, adam_update<double>, squared_norm<double>}};
}

}  // namespace
}  // namespace rota::kernels::cpu
