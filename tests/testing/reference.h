// The expected results of collectives, computed serially. For every type it gives values whose
// sums, products and means over a few ranks are exact, and the operations on them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include <rota/float16.h>
#include <rota/reduce_op.h>
#include <rota/values.h>

namespace rota::testing {

// The names of typed tests: "EveryCollectiveTest/float32" in place of a number.
struct NamesOfTypes {
  template <class T>
  static std::string GetName(int /*index*/) {
    return std::string(to_string(data_type_of<T>()));
  }
};

// The type in which the reference computes with T. It is exact, so the order of operations does not
// matter.
template <class T>
using Exact = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

template <class T>
Exact<T> exact(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  } else if constexpr (sizeof(T) == 2) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return value;
  }
}

template <class T>
T rounded(Exact<T> value) {
  if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// Integers may be arbitrarily large: overflow wraps, so results stay exact. Floats are 1 or 2, or
// sometimes -3: products over eight ranks still fit in the 8 bits of a bfloat16.
template <class T>
T value_of(std::size_t rank, std::size_t index) {
  const std::uint64_t mixed = (rank * 7919 + index + 1) * 0x9e3779b97f4a7c15ULL;
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(mixed >> 17);
  } else {
    if (index % 5 == 0 && rank == 1) return rounded<T>(-3);
    return rounded<T>((mixed >> 40) % 2 == 0 ? 1 : 2);
  }
}

template <class T>
bool is_less(Exact<T> a, Exact<T> b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(a) < static_cast<T>(b);
  return a < b;
}

template <class T>
Exact<T> combine(ReduceOp op, Exact<T> a, Exact<T> b) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kMean:
      return a + b;
    case ReduceOp::kProduct:
      return a * b;
    case ReduceOp::kMin:
      return is_less<T>(a, b) ? a : b;
    case ReduceOp::kMax:
      return is_less<T>(a, b) ? b : a;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (op == ReduceOp::kBitAnd) return a & b;
    if (op == ReduceOp::kBitOr) return a | b;
    return a ^ b;
  }
  return 0;
}

// Returns the reduction of the elements `index` of all ranks.
template <class T>
T reduced(const Reduction& reduction, std::size_t world_size, std::size_t index) {
  Exact<T> result = exact(value_of<T>(0, index));
  for (std::size_t rank = 1; rank < world_size; ++rank) {
    result = combine<T>(reduction.op(), result, exact(value_of<T>(rank, index)));
  }
  if constexpr (!std::is_integral_v<T>) {
    using Computed = std::conditional_t<std::is_same_v<T, double>, double, float>;
    if (reduction.factor() != 1) result *= reduction.factor();
    if (reduction.op() == ReduceOp::kMean) {
      const auto factor = Computed{1} / static_cast<Computed>(world_size);
      return rounded<T>(static_cast<Computed>(result) * factor);
    }
  }
  return rounded<T>(result);
}

// Calls f for each reduction that T has. The factor of the pre-scaled sum keeps everything exact.
template <class T, class F>
void for_each_reduction(F f) {
  for (const ReduceOp op :
       {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kProduct, ReduceOp::kMin, ReduceOp::kMax,
        ReduceOp::kBitAnd, ReduceOp::kBitOr, ReduceOp::kBitXor}) {
    if (why_not(op, data_type_of<T>()).empty()) f(Reduction(op));
  }
  const Reduction pre_scaled = Reduction::pre_scaled_sum(0.25);
  if (why_not(pre_scaled, data_type_of<T>()).empty()) f(pre_scaled);
}

}  // namespace rota::testing
