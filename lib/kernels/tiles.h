// The transforms of tiles that Winograd's convolutions take.
#pragma once
#include <cstddef>
#include <span>

#include "kernels/variant.h"

namespace rota::kernels {

struct TileSteps {  // From an element of a tile to the next, in elements of the memory.
  std::size_t row;
  std::size_t column;
};

// Of a square tile each of whose elements is a run of `count` numbers. With a matrix L of 8 x side:
template <class T>
struct TileTransform {
  using Function = void (*)(const T* from, TileSteps from_steps, T* to, TileSteps to_steps,
                            std::size_t count) noexcept;
  Function expand;        // to = L · from · Lᵀ: from side x side to 8 x 8.
  Function contract_add;  // to += Lᵀ · from · L: from 8 x 8 to side x side.
};

// Of a convolution by square windows, after Winograd: the expanded outputs are the products,
// element by element, of the expanded inputs and weights; and gradients contract what values
// expand.
template <class T>
struct TileTransforms {
  TileTransform<T> inputs;   // 8 x 8. What is expanded gives the outputs by `outputs`' contraction.
  TileTransform<T> weights;  // window x window.
  TileTransform<T> outputs;  // 9 - window, squared.
};

template <class T>
struct TypeTiles {  // Of one type.
  TileTransforms<T> of_window_3;
  TileTransforms<T> of_window_5;
};

struct Tiles {
  static std::span<const Tiles* const> table() noexcept;  // Best first; the last is scalar's.

  const Variant* variant;
  TypeTiles<float> float32;
  TypeTiles<double> float64;

  // Of windows of 3 x 3 or of 5 x 5: requires that `window` is 3 or 5.
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
