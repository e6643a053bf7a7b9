// What all-reduces and reduces do to runs of numbers.
#pragma once
#include <cstddef>
#include <span>

#include <rota/reduce_op.h>
#include <rota/values.h>

#include "kernels/variant.h"

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

struct TypeReductions {  // Of one type; null is what rota::why_not() refuses.
  Combines combines[kReduceOpCount] = {};
  Scale scale = nullptr;
};

struct Reductions {
  static std::span<const Reductions* const> table() noexcept;  // Best first; the last is scalar's.

  const Variant* variant;
  TypeReductions types[kDataTypeCount];  // By DataType.

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
