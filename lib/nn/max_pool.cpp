// Max pooling, with the channels of a pixel as the inner loop: they are what lies side by side.
#include "nn/max_pool.h"

#include <algorithm>

namespace rota::nn {
namespace {

// The pointers do not overlap, which the compiler must know to use vectors.

template <class T>
void keep_greater(const T* __restrict values, std::size_t channels, T* __restrict greatest) {
  for (std::size_t i = 0; i < channels; ++i) {
    greatest[i] = values[i] > greatest[i] ? values[i] : greatest[i];
  }
}

// What is left of the gradient goes where the greatest value is, and then nothing of it is left.
// Two loops, since the compiler finds vectors for each, but not for both in one.
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
MaxPool<T>::MaxPool(ImageShape input, const Layer& layer)
    : input_(input),
      output_{input.rows / layer.window, input.columns / layer.window, input.channels},
      window_(layer.window),
      greatest_(input.channels),
      left_(input.channels) {
  for (std::size_t row = 0; row < window_; ++row) {
    for (std::size_t column = 0; column < window_; ++column) {
      offsets_.push_back((row * input_.columns + column) * input_.channels);
    }
  }
}

template <class T>
void MaxPool<T>::forward(const Pass& pass, const T* input, T* output) {
  const std::size_t channels = input_.channels;
  for (std::size_t sample = 0; sample < pass.samples; ++sample) {
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

// The gradient goes to the first of the greatest values of each square, which is found anew:
// reading the input again costs less than keeping where it was.
template <class T>
void MaxPool<T>::input_gradient(const Pass& pass, const Backward<T>& backward) {
  const bool cuts_off = output_.rows * window_ != input_.rows ||  //
                        output_.columns * window_ != input_.columns;
  if (cuts_off) std::fill_n(backward.input_gradient, pass.samples * input_.count(), T{0});
  const T* gradient = backward.output_gradient;
  for (std::size_t sample = 0; sample < pass.samples; ++sample) {
    for (std::size_t row = 0; row < output_.rows; ++row) {
      for (std::size_t column = 0; column < output_.columns; ++column) {
        const std::size_t first =
            sample * input_.count() + (row * input_.columns + column) * window_ * input_.channels;
        const T* square = backward.input + first;
        std::copy_n(square, input_.channels, greatest_.data());
        for (std::size_t k = 1; k < offsets_.size(); ++k) {
          keep_greater(square + offsets_[k], input_.channels, greatest_.data());
        }
        std::copy_n(gradient, input_.channels, left_.data());
        for (std::size_t offset : offsets_) {
          pass_to_greatest(square + offset, greatest_.data(), input_.channels, left_.data(),
                           backward.input_gradient + first + offset);
        }
        gradient += input_.channels;
      }
    }
  }
}

template class MaxPool<float>;
template class MaxPool<double>;

}  // namespace rota::nn
