// What layers compute with on the host. device_math.h has the same for devices. A layer is a
// template over one of the two, so each layer is written once.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>

#include "kernels/layer_steps.h"
#include "nn/bias.h"
#include "nn/buffer.h"
#include "nn/module.h"
#include "nn/padded_images.h"
#include "nn/pooling.h"
#include "nn/product.h"

namespace rota::nn {

template <class T>
class HostMath {
 public:
  using Element = T;
  using Memory = Buffer<T>;
  using Windows = PaddedImages<T>;
  using Pooling = HostPooling<T>;
  static constexpr bool kIsHost = true;

  // Makes room for `count` elements. If the memory grows, its old contents are lost.
  static void reserve(Memory& memory, std::size_t count) { memory.reserve(count); }
  static Windows windows(ImageShape shape, std::size_t window) { return {shape, window}; }
  static Pooling pooling(ImageShape input, ImageShape output, std::size_t window) {
    return {input, output, window};
  }
  // Must be called before add_rows() with so many columns.
  static void reserve_columns(std::size_t /*columns*/) noexcept {}

  static void multiply(const Matrix<T>& a, const Matrix<T>& b, T* result, Result mode) noexcept {
    nn::multiply(a, b, result, mode);
  }
  static void fill_rows(const T* row, std::size_t columns, T* matrix, std::size_t rows) noexcept {
    nn::fill_rows(row, columns, matrix, rows);
  }
  // Overwrites `sums` with the sums of the columns, or adds to them.
  static void add_rows(const T* matrix, std::size_t rows, T* sums, std::size_t columns,
                       Result mode) noexcept {
    if (mode == Result::kOverwrite) std::fill_n(sums, columns, T{0});
    nn::add_rows(matrix, rows, sums, columns);
  }
  static void copy(const T* from, std::size_t count, T* to) noexcept {
    std::copy_n(from, count, to);
  }

  // One loop for each, simple enough for the compiler to vectorize.
  static void relu(std::span<T> values) noexcept {
    for (T& value : values) value = kernels::relu(value);
  }
  static void relu_gradient(std::span<T> gradient, const T* output) noexcept {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const T passed = gradient[i];  // Always read, so that the compiler can vectorize.
      gradient[i] = kernels::relu_gradient(passed, output[i]);
    }
  }
  static void sigmoid(std::span<T> values) noexcept {
    for (T& value : values) value = kernels::sigmoid(value);
  }
  static void sigmoid_gradient(std::span<T> gradient, const T* output) noexcept {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] = kernels::sigmoid_gradient(gradient[i], output[i]);
    }
  }
  static void multiply_each(std::span<T> values, const T* factors) noexcept {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= factors[i];
  }

  // Draws a factor for each of `units` units of each sample.
  static void draw_factors(const kernels::DropoutDraw<T>& draw,
                           std::span<const std::uint64_t> identities, std::size_t units,
                           T* factor) noexcept {
    for (const std::uint64_t identity : identities) {
      for (std::size_t unit = 0; unit < units; unit += kernels::kUnitsDrawnTogether) {
        const kernels::RandomBlock random = draw.block(identity, unit);
        const std::size_t count = std::min(kernels::kUnitsDrawnTogether, units - unit);
        for (std::size_t i = 0; i < count; ++i) *factor++ = draw.factor(random, i);
      }
    }
  }

  // Writes filters of pixels × channels × filters, turned by 180 degrees, as
  // pixels × filters × channels.
  static void turn_filters(const T* weights, std::size_t pixels, std::size_t channels,
                           std::size_t filters, T* turned) noexcept {
    for (std::size_t pixel = pixels; pixel-- > 0;) {
      const T* from = weights + pixel * channels * filters;
      for (std::size_t filter = 0; filter < filters; ++filter) {
        for (std::size_t channel = 0; channel < channels; ++channel) {
          *turned++ = from[channel * filters + filter];
        }
      }
    }
  }
};

}  // namespace rota::nn
