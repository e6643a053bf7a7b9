// The three products of a convolution: the outputs, and the gradients of weights and inputs.
#include "nn/convolution.h"

#include <algorithm>

#include "nn/device_math.h"
#include "nn/host_math.h"

namespace rota::nn {

template <class Math>
Convolution<Math>::Convolution(const Math& math, ImageShape input, const Layer& layer)
    : Filters<T>(input, layer),
      math_(math),
      inputs_(math.windows(input_, window_)),
      output_gradients_(math.windows(output_, window_)) {
  math_.reserve(turned_weights_, window_ * window_ * input_.channels * output_.channels);
  math_.reserve_columns(output_.channels);
}

template <class Math>
void Convolution<Math>::reserve(std::size_t samples) {
  inputs_.reserve(samples);
  output_gradients_.reserve(samples);
}

template <class Math>
void Convolution<Math>::forward(const Pass& pass, const T* input, T* output) {
  const std::size_t filters = output_.channels;
  const Matrix<T> weights = row_major<T>(weights_, window_ * window_ * input_.channels, filters);
  for (std::size_t first = 0; first < pass.samples; first += inputs_.capacity()) {
    const std::size_t samples = std::min(inputs_.capacity(), pass.samples - first);
    T* to = output + first * output_.count();
    math_.fill_rows(biases_, filters, to, samples * output_.rows * output_.columns);
    math_.multiply(inputs_.windows(input + first * input_.count(), samples), weights, to,
                   Result::kAdd);
  }
}

template <class Math>
void Convolution<Math>::parameter_gradients(const Pass& pass, const Backward<T>& backward) {
  const std::size_t filters = output_.channels;
  for (std::size_t first = 0; first < pass.samples; first += inputs_.capacity()) {
    const std::size_t samples = std::min(inputs_.capacity(), pass.samples - first);
    const std::size_t pixels = samples * output_.rows * output_.columns;
    const T* gradient = backward.output_gradient + first * output_.count();
    const Result mode = first == 0 && !pass.add_gradients ? Result::kOverwrite : Result::kAdd;
    math_.add_rows(gradient, pixels, biases_gradient_, filters, mode);
    const Matrix<T> windows = inputs_.windows(backward.input + first * input_.count(), samples);
    math_.multiply(windows.transposed(), row_major(gradient, pixels, filters), weights_gradient_,
                   mode);
  }
}

// An input value contributes to all outputs of the window around it. It reaches each output through
// the weight on the opposite side of the middle. So the inputs' gradient is a convolution of the
// outputs' gradient, with the filters turned by 180 degrees.
template <class Math>
void Convolution<Math>::input_gradient(const Pass& pass, const Backward<T>& backward) {
  math_.turn_filters(weights_, window_ * window_, input_.channels, output_.channels,
                     turned_weights_.data());
  const Matrix<T> turned =
      row_major<T>(turned_weights_.data(), window_ * window_ * output_.channels, input_.channels);
  for (std::size_t first = 0; first < pass.samples; first += output_gradients_.capacity()) {
    const std::size_t samples = std::min(output_gradients_.capacity(), pass.samples - first);
    const T* gradient = backward.output_gradient + first * output_.count();
    math_.multiply(output_gradients_.windows(gradient, samples), turned,
                   backward.input_gradient + first * input_.count(), Result::kOverwrite);
  }
}

template class Convolution<HostMath<float>>;
template class Convolution<HostMath<double>>;
template class Convolution<DeviceMath>;

}  // namespace rota::nn
