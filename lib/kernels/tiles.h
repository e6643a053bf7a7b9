// Has the kernels that transform tiles for Winograd's convolutions.
#pragma once
#include <cstddef>
#include <span>

#include "kernels/variant.h"

namespace rota::kernels {

struct TileSteps {  // Distances between neighbours in a tile, in elements.
  std::size_t row;
  std::size_t column;
};

// Transforms a square tile. Each of its elements is an array of `count` numbers. L is a matrix of 8
// x side.
template <class T>
struct TileTransform {
  using Function = void (*)(const T* from, TileSteps from_steps, T* to, TileSteps to_steps,
                            std::size_t count) noexcept;
  Function expand;        // to = L · from · Lᵀ: from side x side to 8 x 8.
  Function contract_add;  // to += Lᵀ · from · L: from 8 x 8 to side x side.
};

// The transforms of a convolution with square windows, after Winograd. The expanded inputs
// and the expanded weights are multiplied element by element. outputs.contract_add turns these
// products into outputs. For gradients, expand and contract_add swap their roles.
template <class T>
struct TileTransforms {
  TileTransform<T> inputs;   // 8 x 8.
  TileTransform<T> weights;  // window x window.
  TileTransform<T> outputs;  // (9 - window) x (9 - window).
};

template <class T>
struct TypeTiles {  // For one type.
  TileTransforms<T> of_window_3;
  TileTransforms<T> of_window_5;
};

struct Tiles {
  static std::span<const Tiles* const> table() noexcept;  // Best first; the last is "scalar".

  const Variant* variant;
  TypeTiles<float> float32;
  TypeTiles<double> float64;

  // Returns the transforms for windows of 3 x 3 or 5 x 5. Requires that `window` is 3 or 5.
  template <class T>
  const TileTransforms<T>& transforms(std::size_t window) const noexcept {
    if constexpr (sizeof(T) == sizeof(float)) {
      return window == 3 ? float32.of_window_3 : float32.of_window_5;
    } else {
      return window == 3 ? float64.of_window_3 : float64.of_window_5;
    }
  }
};

}  // namespace rota::kernels
