// Winograd's transform turns each tile of the input, and the window of each filter, into 8 × 8
// transformed values. The places of these values are called points. Inputs and weights are
// multiplied point by point, and the products are transformed back. Gradients go through the same
// steps with the transposed transforms.
#include "nn/tiled_convolution.h"

#include <algorithm>

#include "nn/bias.h"
#include "nn/product.h"

namespace rota::nn {
namespace {

constexpr std::size_t kPointRows = 8;
constexpr std::size_t kPoints = kPointRows * kPointRows;
constexpr std::size_t kFewestChannels = 16;
// A run is a few consecutive samples that are transformed together. Its transformed inputs and
// outputs have at most this many bytes. More samples make the matrix products longer, and so
// faster. With many more bytes, the values would not stay in a second-level cache.
constexpr std::size_t kPointCacheBytes = 2 * 1024 * 1024;

// Returns the steps for points that are `count` elements apart.
kernels::TileSteps point_steps(std::size_t count) noexcept { return {kPointRows * count, count}; }

kernels::TileSteps pixel_steps(const ImageShape& shape) noexcept {
  return {shape.columns * shape.channels, shape.channels};
}

// Calls `transform(pixels of a tile)` for all tiles of an image, row by row.
template <class T, class Transform>
void for_each_tile(T* image, const ImageShape& shape, std::size_t side, std::size_t tile_rows,
                   std::size_t tile_columns, const Transform& transform) {
  for (std::size_t row = 0; row < tile_rows; ++row) {
    for (std::size_t column = 0; column < tile_columns; ++column) {
      transform(image + (row * shape.columns + column) * side * shape.channels);
    }
  }
}

// Returns the place of a row of an image that lies in a larger image, `border` pixels from the
// corner of the larger image.
template <class T, class Large>
Large* row_within(Large* large, const ImageShape& shape, std::size_t border, std::size_t row) {
  return large + ((row + border) * shape.columns + border) * shape.channels;
}

}  // namespace

template <class T>
bool TiledConvolution<T>::suits(ImageShape input, const Layer& layer) noexcept {
  return (layer.window == 3 || layer.window == 5) && input.channels >= kFewestChannels &&
         layer.outputs >= kFewestChannels;
}

template <class T>
TiledConvolution<T>::TiledConvolution(ImageShape input, const Layer& layer)
    : Filters<T>(input, layer),
      transforms_(kernels::select<kernels::Tiles>().transforms<T>(layer.window)),
      side_(kPointRows + 1 - layer.window),
      tile_rows_((input.rows + side_ - 1) / side_),
      tile_columns_((input.columns + side_ - 1) / side_),
      padded_input_{tile_rows_ * side_ + layer.window - 1, tile_columns_ * side_ + layer.window - 1,
                    input.channels},
      padded_output_{tile_rows_ * side_, tile_columns_ * side_, layer.outputs} {
  const std::size_t tiles = tile_rows_ * tile_columns_;
  const std::size_t bytes = tiles * kPoints * (input.channels + layer.outputs) * sizeof(T);
  capacity_ = std::max<std::size_t>(1, kPointCacheBytes / bytes);
  image_.reserve(std::max(padded_input_.count(), padded_output_.count()));
  inputs_.reserve(capacity_ * tiles * kPoints * input.channels);
  outputs_.reserve(capacity_ * tiles * kPoints * layer.outputs);
  weights_at_points_.reserve(kPoints * input.channels * layer.outputs);
}

template <class T>
typename TiledConvolution<T>::Run TiledConvolution<T>::run_from(
    std::size_t first, std::size_t samples) const noexcept {
  return {first, std::min(capacity_, samples - first)};
}

template <class T>
void TiledConvolution<T>::expand_weights() noexcept {
  const std::size_t count = input_.channels * output_.channels;
  transforms_.weights.expand(weights_, {window_ * count, count}, weights_at_points_.data(),
                             point_steps(count), count);
}

template <class T>
void TiledConvolution<T>::expand_inputs(const T* images, Run run) noexcept {
  const ImageShape& shape = input_;
  const std::size_t row_count = shape.columns * shape.channels;
  const std::size_t apart = tiles_of(run) * shape.channels;
  T* to = inputs_.data();
  std::fill_n(image_.data(), padded_input_.count(), T{0});
  for (std::size_t i = run.first; i < run.first + run.count; ++i) {
    for (std::size_t row = 0; row < shape.rows; ++row) {
      std::copy_n(images + i * shape.count() + row * row_count, row_count,
                  row_within<T>(image_.data(), padded_input_, window_ / 2, row));
    }
    for_each_tile(image_.data(), padded_input_, side_, tile_rows_, tile_columns_, [&](T* pixels) {
      transforms_.inputs.expand(pixels, pixel_steps(padded_input_), to, point_steps(apart),
                                shape.channels);
      to += shape.channels;
    });
  }
}

template <class T>
void TiledConvolution<T>::expand_output_gradients(const T* images, Run run) noexcept {
  const ImageShape& shape = output_;
  const std::size_t row_count = shape.columns * shape.channels;
  const std::size_t apart = tiles_of(run) * shape.channels;
  T* to = outputs_.data();
  std::fill_n(image_.data(), padded_output_.count(), T{0});
  for (std::size_t i = run.first; i < run.first + run.count; ++i) {
    for (std::size_t row = 0; row < shape.rows; ++row) {
      std::copy_n(images + i * shape.count() + row * row_count, row_count,
                  row_within<T>(image_.data(), padded_output_, 0, row));
    }
    for_each_tile(image_.data(), padded_output_, side_, tile_rows_, tile_columns_, [&](T* pixels) {
      transforms_.outputs.expand(pixels, pixel_steps(padded_output_), to, point_steps(apart),
                                 shape.channels);
      to += shape.channels;
    });
  }
}

template <class T>
void TiledConvolution<T>::contract_outputs(T* images, Run run) noexcept {
  const ImageShape& shape = output_;
  const std::size_t row_count = shape.columns * shape.channels;
  const std::size_t apart = tiles_of(run) * shape.channels;
  const T* from = outputs_.data();
  for (std::size_t i = run.first; i < run.first + run.count; ++i) {
    fill_rows(biases_, shape.channels, image_.data(), padded_output_.rows * padded_output_.columns);
    for_each_tile(image_.data(), padded_output_, side_, tile_rows_, tile_columns_, [&](T* pixels) {
      transforms_.outputs.contract_add(from, point_steps(apart), pixels,
                                       pixel_steps(padded_output_), shape.channels);
      from += shape.channels;
    });
    for (std::size_t row = 0; row < shape.rows; ++row) {
      std::copy_n(row_within<T>(image_.data(), padded_output_, 0, row), row_count,
                  images + i * shape.count() + row * row_count);
    }
  }
}

template <class T>
void TiledConvolution<T>::contract_input_gradients(T* images, Run run) noexcept {
  const ImageShape& shape = input_;
  const std::size_t row_count = shape.columns * shape.channels;
  const std::size_t apart = tiles_of(run) * shape.channels;
  const T* from = inputs_.data();
  for (std::size_t i = run.first; i < run.first + run.count; ++i) {
    std::fill_n(image_.data(), padded_input_.count(), T{0});  // Overlapping tiles add to it.
    for_each_tile(image_.data(), padded_input_, side_, tile_rows_, tile_columns_, [&](T* pixels) {
      transforms_.inputs.contract_add(from, point_steps(apart), pixels, pixel_steps(padded_input_),
                                      shape.channels);
      from += shape.channels;
    });
    for (std::size_t row = 0; row < shape.rows; ++row) {
      std::copy_n(row_within<T>(image_.data(), padded_input_, window_ / 2, row), row_count,
                  images + i * shape.count() + row * row_count);
    }
  }
}

template <class T>
void TiledConvolution<T>::forward(const Pass& pass, const T* input, T* output) {
  const std::size_t channels = input_.channels;
  const std::size_t filters = output_.channels;
  expand_weights();
  for (std::size_t first = 0; first < pass.samples; first += capacity_) {
    const Run run = run_from(first, pass.samples);
    const std::size_t tiles = tiles_of(run);
    expand_inputs(input, run);
    for (std::size_t point = 0; point < kPoints; ++point) {
      multiply(
          row_major<T>(inputs_.data() + point * tiles * channels, tiles, channels),
          row_major<T>(weights_at_points_.data() + point * channels * filters, channels, filters),
          outputs_.data() + point * tiles * filters, Result::kOverwrite);
    }
    contract_outputs(output, run);
  }
}

// The gradients at the points overwrite the weights at the points. A later call that needs these
// weights expands them anew.
template <class T>
void TiledConvolution<T>::parameter_gradients(const Pass& pass, const Backward<T>& backward) {
  const std::size_t channels = input_.channels;
  const std::size_t filters = output_.channels;
  const std::size_t count = channels * filters;
  const std::size_t pixels = output_.rows * output_.columns;
  if (!pass.add_gradients) {
    std::fill_n(biases_gradient_, filters, T{0});
    std::fill_n(weights_gradient_, window_ * window_ * count, T{0});
  }
  add_rows(backward.output_gradient, pass.samples * pixels, biases_gradient_, filters);
  for (std::size_t first = 0; first < pass.samples; first += capacity_) {
    const Run run = run_from(first, pass.samples);
    const std::size_t tiles = tiles_of(run);
    expand_inputs(backward.input, run);
    expand_output_gradients(backward.output_gradient, run);
    for (std::size_t point = 0; point < kPoints; ++point) {
      multiply(
          row_major<T>(inputs_.data() + point * tiles * channels, tiles, channels).transposed(),
          row_major<T>(outputs_.data() + point * tiles * filters, tiles, filters),
          weights_at_points_.data() + point * count,
          first == 0 ? Result::kOverwrite : Result::kAdd);
    }
  }
  transforms_.weights.contract_add(weights_at_points_.data(), point_steps(count), weights_gradient_,
                                   {window_ * count, count}, count);
}

template <class T>
void TiledConvolution<T>::input_gradient(const Pass& pass, const Backward<T>& backward) {
  const std::size_t channels = input_.channels;
  const std::size_t filters = output_.channels;
  expand_weights();
  for (std::size_t first = 0; first < pass.samples; first += capacity_) {
    const Run run = run_from(first, pass.samples);
    const std::size_t tiles = tiles_of(run);
    expand_output_gradients(backward.output_gradient, run);
    for (std::size_t point = 0; point < kPoints; ++point) {
      multiply(
          row_major<T>(outputs_.data() + point * tiles * filters, tiles, filters),
          row_major<T>(weights_at_points_.data() + point * channels * filters, channels, filters)
              .transposed(),
          inputs_.data() + point * tiles * channels, Result::kOverwrite);
    }
    contract_input_gradients(backward.input_gradient, run);
  }
}

template class TiledConvolution<float>;
template class TiledConvolution<double>;

}  // namespace rota::nn
