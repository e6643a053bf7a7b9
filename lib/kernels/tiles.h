// The transforms of tiles that Winograd's convolutions take.
#pragma once
#include <cstddef>

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

}  // namespace rota::kernels
