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

template <class Turn, class T>
ROTA_TARGET ROTA_INLINE void adam_turns(std::byte*& values, std::byte*& mean,
                                        std::byte*& mean_square, const std::byte*& gradient,
                                        std::size_t& count,
                                        const AdamFactors<T>& factors) noexcept {
  for (; count >= Turn::kCount; count -= Turn::kCount) {
    auto value = Turn::load(values);
    auto m = Turn::load(mean);
    auto square = Turn::load(mean_square);
    const auto g = Turn::load(gradient);
    ROTA_UNROLL for (std::size_t i = 0; i < Turn::Registers::kSize; ++i) {
      adam_step(value.each[i], m.each[i], square.each[i], g.each[i], factors);
    }
    Turn::store(values, value);
    Turn::store(mean, m);
    Turn::store(mean_square, square);
    Turn::pass(values);
    Turn::pass(mean);
    Turn::pass(mean_square);
    Turn::pass(gradient);
  }
}

template <class T>
ROTA_TARGET void adam_update(T* values, T* mean, T* mean_square, const T* gradient,
                             std::size_t count, const AdamFactors<T>& factors) noexcept {
  const AdamFactors<T> constants = factors;  // A copy that no store can change.
  auto* value_bytes = reinterpret_cast<std::byte*>(values);
  auto* mean_bytes = reinterpret_cast<std::byte*>(mean);
  auto* square_bytes = reinterpret_cast<std::byte*>(mean_square);
  const auto* gradient_bytes = reinterpret_cast<const std::byte*>(gradient);
  adam_turns<Grouped<Same<T>, kRootTurn>>(value_bytes, mean_bytes, square_bytes, gradient_bytes,
                                          count, constants);
  if constexpr (kRootTurn > 1) {
    adam_turns<Grouped<Same<T>, 1>>(value_bytes, mean_bytes, square_bytes, gradient_bytes, count,
                                    constants);
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
