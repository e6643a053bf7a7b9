// Max pooling. The inner loop runs over the channels of a pixel, because they are contiguous.
#include "nn/pooling.h"

#include <algorithm>

#include "kernels/layer_steps.h"

namespace rota::nn {
namespace {

// The pointers do not overlap. The compiler must know this to vectorize.

template <class T>
void keep_greater(const T* __restrict values, std::size_t channels, T* __restrict greatest) {
  for (std::size_t i = 0; i < channels; ++i) {
    greatest[i] = kernels::greater_of(values[i], greatest[i]);
  }
}

// `values` are the values at one position of the square. In each channel, the position gets the
// remaining gradient if it has the greatest value; then nothing remains. Two loops: the compiler
// vectorizes each of them, but not both in one.
template <class T>
void pass_to_greatest(const T* __restrict values, const T* __restrict greatest,
                      std::size_t channels, T* __restrict left, T* __restrict gradient) {
  for (std::size_t i = 0; i < channels; ++i) {
    const T whole = left[i];
    gradient[i] = values[i] == greatest[i] ? whole : T{0};
  }
  for (std::size_t i = 0; i < channels; ++i) left[i] -= gradient[i];
}

}  // namespace

template <class T>
HostPooling<T>::HostPooling(ImageShape input, ImageShape output, std::size_t window)
    : input_(input),
      output_(output),
      window_(window),
      greatest_(input.channels),
      left_(input.channels) {
  for (std::size_t row = 0; row < window_; ++row) {
    for (std::size_t column = 0; column < window_; ++column) {
      offsets_.push_back((row * input_.columns + column) * input_.channels);
    }
  }
}

template <class T>
void HostPooling<T>::forward(std::size_t samples, const T* input, T* output) noexcept {
  const std::size_t channels = input_.channels;
  for (std::size_t sample = 0; sample < samples; ++sample) {
    for (std::size_t row = 0; row < output_.rows; ++row) {
      const T* square = input + sample * input_.count() + row * window_ * input_.columns * channels;
      for (std::size_t column = 0; column < output_.columns; ++column) {
        std::copy_n(square, channels, output);
        for (std::size_t k = 1; k < offsets_.size(); ++k) {
          keep_greater(square + offsets_[k], channels, output);
        }
        square += window_ * channels;
        output += channels;
      }
    }
  }
}

// The gradient goes to the first of the greatest values of each square. The backward pass finds
// this value anew: to read the input again costs less than to store the position of the value.
template <class T>
void HostPooling<T>::backward(std::size_t samples, const T* input, const T* output_gradient,
                              T* input_gradient) noexcept {
  const bool cuts_off = output_.rows * window_ != input_.rows ||  //
                        output_.columns * window_ != input_.columns;
  if (cuts_off) std::fill_n(input_gradient, samples * input_.count(), T{0});
  const T* gradient = output_gradient;
  for (std::size_t sample = 0; sample < samples; ++sample) {
    for (std::size_t row = 0; row < output_.rows; ++row) {
      for (std::size_t column = 0; column < output_.columns; ++column) {
        const std::size_t first =
            sample * input_.count() + (row * input_.columns + column) * window_ * input_.channels;
        const T* square = input + first;
        std::copy_n(square, input_.channels, greatest_.data());
        for (std::size_t k = 1; k < offsets_.size(); ++k) {
          keep_greater(square + offsets_[k], input_.channels, greatest_.data());
        }
        std::copy_n(gradient, input_.channels, left_.data());
        for (std::size_t offset : offsets_) {
          pass_to_greatest(square + offset, greatest_.data(), input_.channels, left_.data(),
                           input_gradient + first + offset);
        }
        gradient += input_.channels;
      }
    }
  }
}

template class HostPooling<float>;
template class HostPooling<double>;

}  // namespace rota::nn
