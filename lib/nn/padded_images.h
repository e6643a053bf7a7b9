// Images of a few samples with a border of zeros around each, and the matrix of their windows: what
// a convolution multiplies.
#pragma once
#include <rota/model.h>

#include <cstddef>

#include "nn/buffer.h"
#include "nn/product.h"

namespace rota::nn {

template <class T>
class PaddedImages {
 public:
  // The border is half the side of a window wide.
  PaddedImages(ImageShape shape, std::size_t window);

  // How many images are handled at once: so few that OpenBLAS takes their product for a small one,
  // and multiplies it as it lies.
  std::size_t capacity() const noexcept { return capacity_; }

  // Takes `count` images, at most capacity(). The result has a row for each of their pixels: the
  // window around it, by rows, columns and channels. Valid until the next call.
  Matrix<T> windows(const T* images, std::size_t count) noexcept;

 private:
  void pad(const T* image) noexcept;
  T* write_windows(T* to) const noexcept;
  void write_places(T* to, std::size_t place_step) const noexcept;

  ImageShape shape_;
  std::size_t window_;
  ImageShape padded_shape_;
  std::size_t window_count_;  // Values of a window.
  std::size_t capacity_;
  Buffer<T> padded_;   // One image; its border stays zero.
  Buffer<T> windows_;  // Of capacity_ images.
};

}  // namespace rota::nn
