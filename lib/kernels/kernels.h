// Arithmetic on runs of numbers, in one variant for each instruction set. Every variant gives the
// bits of the reference, "scalar": lanes never mix, and no multiply is fused with an add. Any NaN
// is as good as any other.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include <rota/reduce_op.h>
#include <rota/values.h>

#include "kernels/coding.h"

namespace rota::kernels {

// accumulator[i] = accumulator[i] op input[i]. They never overlap, and need no alignment. A mean's
// is that of its last hop, (accumulator[i] + input[i]) * factor; its others are sums.
using Combine = void (*)(std::byte* accumulator, const std::byte* input, std::size_t count,
                         double factor) noexcept;
// to[i] = also_to[i] = a[i] op b[i], a mean's as in its last hop. An output may be an input, and
// both outputs may be one; else nothing overlaps.
using CombineToBoth = void (*)(std::byte* to, std::byte* also_to, const std::byte* a,
                               const std::byte* b, std::size_t count, double factor) noexcept;
// values[i] *= factor, which is rounded first: to double for float64, else to float.
using Scale = void (*)(std::byte* values, std::size_t count, double factor) noexcept;

inline constexpr std::size_t kDataTypeCount = static_cast<std::size_t>(DataType::kInt64) + 1;
inline constexpr std::size_t kReduceOpCount = static_cast<std::size_t>(ReduceOp::kBitXor) + 1;

struct Combines {
  Combine into = nullptr;
  CombineToBoth to_both = nullptr;
};

struct Reductions {  // Of one type; null is what rota::why_not() refuses.
  Combines combines[kReduceOpCount] = {};
  Scale scale = nullptr;
};

template <class T>
struct Hyperparameters {  // Of sgd_update; see rota::Sgd for what they mean.
  T learning_rate;
  T momentum;
  T weight_decay;
  T gradient_scale;
};

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
struct Arithmetic {  // Of the types that models are trained in. Runs never overlap.
  // g = gradient[i] * gradient_scale + weight_decay * values[i];
  // velocity[i] = momentum * velocity[i] + g;  values[i] -= learning_rate * velocity[i]
  void (*sgd_update)(T* values, T* velocity, const T* gradient, std::size_t count,
                     const Hyperparameters<T>& hyperparameters) noexcept;
  TileTransforms<T> tiles_of_window_3;
  TileTransforms<T> tiles_of_window_5;
};

struct Variant {
  const char* name;  // "avx512", "avx2", "scalar"
  bool (*supported)() noexcept;
  Reductions reductions[kDataTypeCount];  // By DataType.
  Coding codings[kCodecCount];            // By Codec; none of the identity.
  Arithmetic<float> float32;
  Arithmetic<double> float64;

  Combine combine(DataType type, ReduceOp op) const noexcept { return combines(type, op).into; }
  CombineToBoth combine_to_both(DataType type, ReduceOp op) const noexcept {
    return combines(type, op).to_both;
  }
  Scale scale(DataType type) const noexcept {
    return reductions[static_cast<std::size_t>(type)].scale;
  }
  const Coding& coding(Codec codec) const noexcept {
    return codings[static_cast<std::size_t>(codec)];
  }
  template <class T>
  const Arithmetic<T>& arithmetic() const noexcept {
    if constexpr (sizeof(T) == sizeof(float)) {
      return float32;
    } else {
      return float64;
    }
  }

 private:
  const Combines& combines(DataType type, ReduceOp op) const noexcept {
    return reductions[static_cast<std::size_t>(type)].combines[static_cast<std::size_t>(op)];
  }
};

// Best first. The last one, "scalar", always runs.
std::span<const Variant* const> variants() noexcept;

// That one. For few elements it is the fastest as well.
const Variant& reference() noexcept;

// The best variant that this machine supports or, where `forced` is not empty, the one of that
// name. Throws Error kInvalidArgument, listing what there is, if it is unknown or not supported.
// Chosen once, when a plan is made; never in a loop.
const Variant& select(std::string_view forced = {});

}  // namespace rota::kernels
