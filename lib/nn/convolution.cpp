// The three products of a convolution: the outputs, and the gradients of weights and inputs.
#include "nn/convolution.h"

#include <algorithm>

#include "nn/bias.h"
#include "nn/product.h"

namespace rota::nn {

template <class T>
Convolution<T>::Convolution(ImageShape input, const Layer& layer)
    : Filters<T>(input, layer), inputs_(input_, window_), output_gradients_(output_, window_) {
  turned_weights_.reserve(window_ * window_ * input_.channels * output_.channels);
}

template <class T>
void Convolution<T>::forward(const Pass& pass, const T* input, T* output) {
  const std::size_t filters = output_.channels;
  const Matrix<T> weights = row_major<T>(weights_, window_ * window_ * input_.channels, filters);
  for (std::size_t first = 0; first < pass.samples; first += inputs_.capacity()) {
    const std::size_t samples = std::min(inputs_.capacity(), pass.samples - first);
    T* to = output + first * output_.count();
    fill_rows(biases_, filters, to, samples * output_.rows * output_.columns);
    multiply(inputs_.windows(input + first * input_.count(), samples), weights, to, Result::kAdd);
  }
}

template <class T>
void Convolution<T>::parameter_gradients(const Pass& pass, const Backward<T>& backward) {
  const std::size_t filters = output_.channels;
  if (!pass.add_gradients) std::fill_n(biases_gradient_, filters, T{0});
  for (std::size_t first = 0; first < pass.samples; first += inputs_.capacity()) {
    const std::size_t samples = std::min(inputs_.capacity(), pass.samples - first);
    const std::size_t pixels = samples * output_.rows * output_.columns;
    const T* gradient = backward.output_gradient + first * output_.count();
    add_rows(gradient, pixels, biases_gradient_, filters);
    const Matrix<T> windows = inputs_.windows(backward.input + first * input_.count(), samples);
    multiply(windows.transposed(), row_major(gradient, pixels, filters), weights_gradient_,
             first == 0 && !pass.add_gradients ? Result::kOverwrite : Result::kAdd);
  }
}

// An input value reaches the outputs of the window around it, each through the weight on the other
// side of the middle: so its gradient is a convolution too, with the filters turned half around.
template <class T>
void Convolution<T>::input_gradient(const Pass& pass, const Backward<T>& backward) {
  turn_weights();
  const Matrix<T> turned =
      row_major<T>(turned_weights_.data(), window_ * window_ * output_.channels, input_.channels);
  for (std::size_t first = 0; first < pass.samples; first += output_gradients_.capacity()) {
    const std::size_t samples = std::min(output_gradients_.capacity(), pass.samples - first);
    const T* gradient = backward.output_gradient + first * output_.count();
    multiply(output_gradients_.windows(gradient, samples), turned,
             backward.input_gradient + first * input_.count(), Result::kOverwrite);
  }
}

template <class T>
void Convolution<T>::turn_weights() noexcept {
  const std::size_t channels = input_.channels;
  const std::size_t filters = output_.channels;
  const std::size_t last = window_ * window_ - 1;
  for (std::size_t position = 0; position <= last; ++position) {
    const T* from = weights_ + (last - position) * channels * filters;
    T* to = turned_weights_.data() + position * channels * filters;
    for (std::size_t filter = 0; filter < filters; ++filter) {
      for (std::size_t channel = 0; channel < channels; ++channel) {
        *to++ = from[channel * filters + filter];
      }
    }
  }
}

template class Convolution<float>;
template class Convolution<double>;

}  // namespace rota::nn
