// Arithmetic on runs of numbers, in one variant for each instruction set. Every variant gives the
// bits of the reference, "scalar": lanes never mix, and no multiply is fused with an add. Any NaN
// is as good as any other.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include "kernels/codings.h"
#include "kernels/optimizers.h"
#include "kernels/reductions.h"
#include "kernels/tiles.h"

namespace rota::kernels {

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
  TypeReductions reductions[kDataTypeCount];  // By DataType.
  Coding codings[kCodecCount];                // By Codec; none of the identity.
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
