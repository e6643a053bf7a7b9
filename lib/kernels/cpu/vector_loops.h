// The loops of kernels.h on whole vectors; what is left over goes to the scalar ones. Included once
// by the file of each instruction set, which first says what ROTA_TARGET and Lanes are.
#pragma once
#include "kernels/cpu/variants.h"

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

template <class T>
ROTA_TARGET void add(T* accumulator, const T* input, std::size_t count) noexcept {
  using Vector = typename Lanes<T>::Unaligned;
  std::size_t i = 0;
  for (; i + Lanes<T>::kCount <= count; i += Lanes<T>::kCount) {
    *reinterpret_cast<Vector*>(accumulator + i) += *reinterpret_cast<const Vector*>(input + i);
  }
  scalar::add(accumulator + i, input + i, count - i);
}

template <class T>
ROTA_TARGET void add_scale(T* accumulator, const T* input, std::size_t count, T factor) noexcept {
  using Vector = typename Lanes<T>::Unaligned;
  std::size_t i = 0;
  for (; i + Lanes<T>::kCount <= count; i += Lanes<T>::kCount) {
    Vector& sum = *reinterpret_cast<Vector*>(accumulator + i);
    sum = (sum + *reinterpret_cast<const Vector*>(input + i)) * factor;
  }
  scalar::add_scale(accumulator + i, input + i, count - i, factor);
}

template <class T>
ROTA_TARGET void scale(T* values, std::size_t count, T factor) noexcept {
  using Vector = typename Lanes<T>::Unaligned;
  std::size_t i = 0;
  for (; i + Lanes<T>::kCount <= count; i += Lanes<T>::kCount) {
    *reinterpret_cast<Vector*>(values + i) *= factor;
  }
  scalar::scale(values + i, count - i, factor);
}

template <class T>
ROTA_TARGET void sgd_update(T* values, T* velocity, const T* gradient, std::size_t count,
                            const Hyperparameters<T>& hyperparameters) noexcept {
  using Vector = typename Lanes<T>::Unaligned;
  const auto [learning_rate, momentum, weight_decay, gradient_scale] = hyperparameters;
  std::size_t i = 0;
  for (; i + Lanes<T>::kCount <= count; i += Lanes<T>::kCount) {
    Vector& value = *reinterpret_cast<Vector*>(values + i);
    Vector& v = *reinterpret_cast<Vector*>(velocity + i);
    const Vector g =
        *reinterpret_cast<const Vector*>(gradient + i) * gradient_scale + weight_decay * value;
    v = momentum * v + g;
    value -= learning_rate * v;
  }
  scalar::sgd_update(values + i, velocity + i, gradient + i, count - i, hyperparameters);
}

template <class T>
constexpr Arithmetic<T> kArithmetic = {add<T>, add_scale<T>, scale<T>, sgd_update<T>};

}  // namespace
}  // namespace rota::kernels::cpu
