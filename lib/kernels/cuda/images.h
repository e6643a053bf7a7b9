// Has what layers do to images on a GPU: max pooling, and the windows and filters of convolutions.
#pragma once
#include <rota/cuda_model_calls.h>

#include "kernels/cuda/each.h"
#include "kernels/cuda/granules.h"
#include "kernels/layer_steps.h"

namespace rota::kernels::cuda {

using rota::cuda::Images;

// One element is one value of the output.
struct PoolBody {
  float* output;
  const float* input;
  Images images;

  // Returns where the square of an output value begins in the input.
  template <class Index>
  ROTA_TARGET static std::size_t square_of(const Images& images, Index index) noexcept {
    const auto channels = static_cast<Index>(images.channels);
    const auto columns = static_cast<Index>(images.columns / images.window);
    const auto rows = static_cast<Index>(images.rows / images.window);
    const Index channel = index % channels;
    const Index column = index / channels % columns;
    const Index row = index / channels / columns % rows;
    const Index image = index / channels / columns / rows;
    const std::size_t in_rows = image * images.rows + row * images.window;
    return (in_rows * images.columns + column * images.window) * images.channels + channel;
  }
  ROTA_TARGET static float greatest(const float* square, const Images& images) noexcept {
    float found = square[0];
    for (std::size_t row = 0; row < images.window; ++row) {
      for (std::size_t column = 0; column < images.window; ++column) {
        if (row == 0 && column == 0) continue;
        found = greater_of(square[(row * images.columns + column) * images.channels], found);
      }
    }
    return found;
  }
  template <class Index>
  ROTA_TARGET void one(Index index) const noexcept {
    output[index] = greatest(input + square_of(images, index), images);
  }
};

// The gradient goes to the first of the greatest values of each square.
struct PoolGradientBody {
  float* input_gradient;
  const float* input;
  const float* output_gradient;
  Images images;

  template <class Index>
  ROTA_TARGET void one(Index index) const noexcept {
    const std::size_t first = PoolBody::square_of(images, index);
    const float greatest = PoolBody::greatest(input + first, images);
    float left = output_gradient[index];
    for (std::size_t row = 0; row < images.window; ++row) {
      for (std::size_t column = 0; column < images.window; ++column) {
        const std::size_t at = first + (row * images.columns + column) * images.channels;
        const float passed = input[at] == greatest ? left : 0;
        input_gradient[at] = passed;
        left -= passed;
      }
    }
  }
};

inline std::size_t pooled_count(const Images& images) noexcept {
  return images.count * (images.rows / images.window) * (images.columns / images.window) *
         images.channels;
}

// One element is a Piece of a window. `images.channels` is in pieces.
template <class Piece>
struct UnfoldBody {
  std::byte* windows;
  const std::byte* from;
  Images images;

  template <class Index>
  ROTA_TARGET void one(Index index) const noexcept {
    const auto channels = static_cast<Index>(images.channels);
    const auto window = static_cast<Index>(images.window);
    const Index channel = index % channels;
    const Index x = index / channels % window;
    const Index y = index / channels / window % window;
    const Index pixel = index / channels / window / window;
    const auto columns = static_cast<Index>(images.columns);
    const auto rows = static_cast<Index>(images.rows);
    // Numbers without a sign: what lies before the image is far behind it.
    const Index column = pixel % columns + x - window / 2;
    const Index row = pixel / columns % rows + y - window / 2;
    Piece piece = {};
    if (column < columns && row < rows) {
      const std::size_t image = pixel / columns / rows;
      const std::size_t at =
          ((image * images.rows + row) * images.columns + column) * images.channels + channel;
      piece = load_piece<Piece>(from + at * sizeof(Piece));
    }
    store_piece(windows + std::size_t{index} * sizeof(Piece), piece);
  }
};

inline std::size_t unfolded_count(const Images& images) noexcept {
  return images.count * images.rows * images.columns * images.window * images.window *
         images.channels;
}

// Copies four channels at a time if that is possible.
inline Status unfold(const Queue& queue, float* windows, const float* from,
                     const Images& images) noexcept {
  auto* to = reinterpret_cast<std::byte*>(windows);
  const auto* bytes = reinterpret_cast<const std::byte*>(from);
  constexpr std::size_t kTogether = sizeof(Words) / sizeof(float);
  if (images.channels % kTogether == 0 && misalignment(to, kGranule) == 0 &&
      misalignment(bytes, kGranule) == 0) {
    Images wide = images;
    wide.channels /= kTogether;
    return each(queue, UnfoldBody<Words>{to, bytes, wide}, unfolded_count(wide));
  }
  return each(queue, UnfoldBody<float>{to, bytes, images}, unfolded_count(images));
}

// One element is one weight of a turned filter.
struct TurnBody {
  float* turned;
  const float* weights;
  std::size_t pixels;
  std::size_t channels;
  std::size_t filters;

  template <class Index>
  ROTA_TARGET void one(Index index) const noexcept {
    const std::size_t channel = index % static_cast<Index>(channels);
    const std::size_t filter = index / static_cast<Index>(channels) % static_cast<Index>(filters);
    const std::size_t pixel = index / static_cast<Index>(channels) / static_cast<Index>(filters);
    turned[index] = weights[((pixels - 1 - pixel) * channels + channel) * filters + filter];
  }
};

}  // namespace rota::kernels::cuda
