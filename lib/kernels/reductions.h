// Has the kernels of all-reduces and reduces, which combine arrays of numbers.
#pragma once
#include <cstddef>
#include <span>

#include <rota/reduce_op.h>
#include <rota/values.h>

#include "kernels/variant.h"

namespace rota::kernels {

// Computes accumulator[i] = accumulator[i] op input[i]. The arrays must not overlap, and need no
// alignment. For a mean, this is the last addition: (accumulator[i] + input[i]) * factor. The
// earlier additions of a mean use the kernel of sums.
using Combine = void (*)(std::byte* accumulator, const std::byte* input, std::size_t count,
                         double factor) noexcept;
// Computes to[i] = also_to[i] = a[i] op b[i]; for a mean: (a[i] + b[i]) * factor. An output may be
// an input, and both outputs may be the same; otherwise no two arrays may overlap.
using CombineToBoth = void (*)(std::byte* to, std::byte* also_to, const std::byte* a,
                               const std::byte* b, std::size_t count, double factor) noexcept;
// Computes values[i] *= factor. Rounds the factor first: to double for float64, otherwise to float.
using Scale = void (*)(std::byte* values, std::size_t count, double factor) noexcept;

inline constexpr std::size_t kDataTypeCount = static_cast<std::size_t>(DataType::kInt64) + 1;
inline constexpr std::size_t kReduceOpCount = static_cast<std::size_t>(ReduceOp::kBitXor) + 1;

struct Combines {
  Combine into = nullptr;
  CombineToBoth to_both = nullptr;
};

struct TypeReductions {  // The kernels of one type; null if rota::why_not() refuses the operation.
  Combines combines[kReduceOpCount] = {};
  Scale scale = nullptr;
};

struct Reductions {
  static std::span<const Reductions* const> table() noexcept;  // Best first; the last is "scalar".

  const Variant* variant;
  TypeReductions types[kDataTypeCount];  // Indexed by DataType.

  Combine combine(DataType type, ReduceOp op) const noexcept { return combines(type, op).into; }
  CombineToBoth combine_to_both(DataType type, ReduceOp op) const noexcept {
    return combines(type, op).to_both;
  }
  Scale scale(DataType type) const noexcept { return types[static_cast<std::size_t>(type)].scale; }

 private:
  const Combines& combines(DataType type, ReduceOp op) const noexcept {
    return types[static_cast<std::size_t>(type)].combines[static_cast<std::size_t>(op)];
  }
};

}  // namespace rota::kernels
