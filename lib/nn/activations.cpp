// One loop for each activation, so simple that the compiler can use vectors.
#include "nn/activations.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace rota::nn {

template <class T>
void Activation<T>::forward(const Pass& pass, const T* input, T* output) {
  const std::size_t count = pass.samples * shape_.count();
  if (input != output) std::copy_n(input, count, output);
  apply(pass, {output, count});
}

template <class T>
void Activation<T>::input_gradient(const Pass& pass, const Backward<T>& backward) {
  ROTA_ASSERT(backward.input_gradient == backward.output_gradient);
  differentiate({backward.input_gradient, pass.samples * shape_.count()}, backward.output);
}

template <class T>
void Relu<T>::apply(const Pass&, std::span<T> values) noexcept {
  // So put that NaN stays NaN: a loss that is not a number must not go unnoticed.
  for (T& value : values) value = value < 0 ? T{0} : value;
}

template <class T>
void Relu<T>::differentiate(std::span<T> gradient, const T* output) noexcept {
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const T passed = gradient[i];  // Read in any case, so that the compiler can use vectors.
    gradient[i] = output[i] > 0 ? passed : T{0};
  }
}

template <class T>
void Sigmoid<T>::apply(const Pass&, std::span<T> values) noexcept {
  for (T& value : values) value = 1 / (1 + std::exp(-value));
}

template <class T>
void Sigmoid<T>::differentiate(std::span<T> gradient, const T* output) noexcept {
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] *= output[i] * (1 - output[i]);
}

template class Activation<float>;
template class Activation<double>;
template class Relu<float>;
template class Relu<double>;
template class Sigmoid<float>;
template class Sigmoid<double>;

}  // namespace rota::nn
