// The reference: one element after the other. It decides what every other variant must give.
#include <cstring>

#include "kernels/cpu/variants.h"

namespace rota::kernels::cpu {

void copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (bytes != 0) std::memcpy(to, from, bytes);  // memcpy takes no null pointer, not even for 0.
}

namespace scalar {

template <class T>
void add(T* accumulator, const T* input, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) accumulator[i] += input[i];
}

template <class T>
void add_scale(T* accumulator, const T* input, std::size_t count, T factor) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    accumulator[i] = (accumulator[i] + input[i]) * factor;
  }
}

template <class T>
void scale(T* values, std::size_t count, T factor) noexcept {
  for (std::size_t i = 0; i < count; ++i) values[i] *= factor;
}

template <class T>
void sgd_update(T* values, T* velocity, const T* gradient, std::size_t count,
                const Hyperparameters<T>& hyperparameters) noexcept {
  const auto [learning_rate, momentum, weight_decay, gradient_scale] = hyperparameters;
  for (std::size_t i = 0; i < count; ++i) {
    const T g = gradient[i] * gradient_scale + weight_decay * values[i];
    velocity[i] = momentum * velocity[i] + g;
    values[i] -= learning_rate * velocity[i];
  }
}

}  // namespace scalar

namespace {

bool always() noexcept { return true; }

template <class T>
constexpr Arithmetic<T> kArithmetic = {scalar::add<T>, scalar::add_scale<T>, scalar::scale<T>,
                                       scalar::sgd_update<T>};

}  // namespace

constinit const Variant kScalar = {"scalar", always, copy, kArithmetic<float>, kArithmetic<double>};

}  // namespace rota::kernels::cpu
