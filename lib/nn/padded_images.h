// The matrix of the windows of a few images. Each image has a border of zeros. The matrix is a
// factor in the products of a convolution.
#pragma once
#include <rota/model.h>

#include <cstddef>

#include "nn/buffer.h"
#include "nn/product.h"

namespace rota::nn {

template <class T>
class PaddedImages {
 public:
  // The border is half as wide as a window.
  PaddedImages(ImageShape shape, std::size_t window);

  void reserve(std::size_t /*images*/) noexcept {}  // The constructor has made room.

  // Returns the number of images handled together. This number is so small that OpenBLAS treats the
  // matrix product as a small one, and multiplies the matrices in place, without copying them.
  std::size_t capacity() const noexcept { return capacity_; }

  // Returns the matrix of `count` images, at most capacity(). It has one row for each pixel of the
  // images: the window around the pixel, by rows, columns and channels. It is valid until the next
  // call.
  Matrix<T> windows(const T* images, std::size_t count) noexcept;

 private:
  void pad(const T* image) noexcept;
  T* write_windows(T* to) const noexcept;
  void write_places(T* to, std::size_t place_step) const noexcept;

  ImageShape shape_;
  std::size_t window_;
  ImageShape padded_shape_;
  std::size_t window_count_;  // Number of values in a window.
  std::size_t capacity_;
  Buffer<T> padded_;   // One image; its border stays zero.
  Buffer<T> windows_;  // Windows of capacity_ images.
};

}  // namespace rota::nn
