// Writes the windows of images into a matrix.
#include "nn/padded_images.h"

#include <algorithm>

namespace rota::nn {
namespace {

constexpr std::size_t kWindowCacheBytes = 128 * 1024;

}  // namespace

template <class T>
PaddedImages<T>::PaddedImages(ImageShape shape, std::size_t window)
    : shape_(shape),
      window_(window),
      padded_shape_{shape.rows + window - 1, shape.columns + window - 1, shape.channels},
      window_count_(window * window * shape.channels) {
  const std::size_t image_count = shape.rows * shape.columns * window_count_;
  capacity_ = std::max<std::size_t>(1, kWindowCacheBytes / (image_count * sizeof(T)));
  windows_.reserve(capacity_ * image_count);
  padded_.reserve(padded_shape_.count());
  std::fill_n(padded_.data(), padded_shape_.count(), T{0});
}

template <class T>
Matrix<T> PaddedImages<T>::windows(const T* images, std::size_t count) noexcept {
  const std::size_t pixels = shape_.rows * shape_.columns;
  T* to = windows_.data();
  for (std::size_t image = 0; image < count; ++image) {
    pad(images + image * shape_.count());
    if (shape_.channels == 1) {
      write_places(windows_.data() + image * pixels, count * pixels);
    } else {
      to = write_windows(to);
    }
  }
  if (shape_.channels == 1) {
    return row_major<T>(windows_.data(), window_count_, count * pixels).transposed();
  }
  return row_major<T>(windows_.data(), count * pixels, window_count_);
}

template <class T>
void PaddedImages<T>::pad(const T* image) noexcept {
  const std::size_t border = window_ / 2;
  const std::size_t row_count = shape_.columns * shape_.channels;
  for (std::size_t row = 0; row < shape_.rows; ++row) {
    std::copy_n(image + row * row_count, row_count,
                padded_.data() +
                    ((row + border) * padded_shape_.columns + border) * padded_shape_.channels);
  }
}

// Copies each row of a window in one piece.
template <class T>
T* PaddedImages<T>::write_windows(T* to) const noexcept {
  const std::size_t run = window_ * shape_.channels;
  const std::size_t row_step = padded_shape_.columns * padded_shape_.channels;
  for (std::size_t row = 0; row < shape_.rows; ++row) {
    for (std::size_t column = 0; column < shape_.columns; ++column) {
      const T* from = padded_.data() + row * row_step + column * shape_.channels;
      for (std::size_t i = 0; i < window_; ++i, from += row_step) to = std::copy_n(from, run, to);
    }
  }
  return to;
}

// With one channel, a row of a window is too short to be copied on its own. So this function writes
// the first value of every window, then the second value of every window, and so on. Each copied
// piece is as long as a row of the image.
template <class T>
void PaddedImages<T>::write_places(T* to, std::size_t place_step) const noexcept {
  for (std::size_t i = 0; i < window_ * window_; ++i, to += place_step) {
    const T* from = padded_.data() + i / window_ * padded_shape_.columns + i % window_;
    for (std::size_t row = 0; row < shape_.rows; ++row) {
      std::copy_n(from + row * padded_shape_.columns, shape_.columns, to + row * shape_.columns);
    }
  }
}

template class PaddedImages<float>;
template class PaddedImages<double>;

}  // namespace rota::nn
