// Makes input values, and reduces them serially for comparison.
#include "collectives/numbers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "collectives/element_types.h"

namespace rota::bench {
namespace {

// Returns element `index` of the input of `rank`. Products of elements are powers of two. Sums of
// elements are small enough for the eight significant bits of a bfloat16.
std::int64_t value_of(const Work& work, std::size_t rank, std::size_t index) noexcept {
  const bool multiplies = reduces(work.collective) && work.op == ReduceOp::kProduct;
  return static_cast<std::int64_t>(multiplies ? 1 + (rank + index) % 2 : (3 * rank + index) % 7);
}

std::int64_t combine(ReduceOp op, std::int64_t a, std::int64_t b) noexcept {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kMean:
      return a + b;
    case ReduceOp::kProduct:
      return a * b;
    case ReduceOp::kMin:
      return std::min(a, b);
    case ReduceOp::kMax:
      return std::max(a, b);
    case ReduceOp::kBitAnd:
      return a & b;
    case ReduceOp::kBitOr:
      return a | b;
    case ReduceOp::kBitXor:
      break;
  }
  return a ^ b;
}

template <class T>
T converted(std::int64_t value) noexcept {
  if constexpr (sizeof(T) == 2) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// Rounds the factor to the type in which the mean is computed, as rota does.
template <class T>
T mean(std::int64_t sum, std::size_t ranks) noexcept {
  if constexpr (std::is_same_v<T, double>) {
    return static_cast<double>(sum) * (1.0 / static_cast<double>(ranks));
  } else {
    const auto factor = static_cast<float>(1.0 / static_cast<double>(ranks));
    return T(static_cast<float>(sum) * factor);
  }
}

template <class T>
T reduced(const Work& work, std::size_t ranks, std::size_t index) noexcept {
  std::int64_t result = value_of(work, 0, index);
  for (std::size_t rank = 1; rank < ranks; ++rank) {
    result = combine(work.op, result, value_of(work, rank, index));
  }
  if (work.op == ReduceOp::kMean) return mean<T>(result, ranks);
  return converted<T>(result);
}

// Returns the right value of element `index` of the output of `rank`.
template <class T>
T expected(const Work& work, std::size_t rank, std::size_t ranks, std::size_t index) noexcept {
  const std::size_t part = std::max<std::size_t>(1, work.total / ranks);
  switch (work.collective) {
    case Collective::kAllReduce:
    case Collective::kReduce:
      return reduced<T>(work, ranks, index);
    case Collective::kReduceScatter:
      return reduced<T>(work, ranks, rank * part + index);
    case Collective::kAllGather:
    case Collective::kGather:
      return converted<T>(value_of(work, index / part, index % part));
    case Collective::kScatter:
      return converted<T>(value_of(work, kRoot, rank * part + index));
    case Collective::kAllToAll:
      return converted<T>(value_of(work, index / part, rank * part + index % part));
    case Collective::kBroadcast:
    case Collective::kPingPong:
    case Collective::kBarrier:
      break;
  }
  return converted<T>(value_of(work, kRoot, index));
}

}  // namespace

void write_values(const Work& work, std::size_t rank, std::size_t ranks, const Buffers& buffers) {
  const Slice at = layout_of(work, rank, ranks).input;
  with_type(work.type, [&]<class T>(std::type_identity<T>) {
    T* values = reinterpret_cast<T*>(buffers.input) + at.offset;
    for (std::size_t i = 0; i < at.count; ++i) values[i] = converted<T>(value_of(work, rank, i));
  });
}

std::size_t count_errors(const Work& work, std::size_t rank, std::size_t ranks,
                         const Buffers& buffers) {
  const Slice at = layout_of(work, rank, ranks).output;
  std::size_t errors = 0;
  with_type(work.type, [&]<class T>(std::type_identity<T>) {
    using Bits = std::array<std::byte, sizeof(T)>;
    const T* results = reinterpret_cast<const T*>(buffers.output) + at.offset;
    for (std::size_t i = 0; i < at.count; ++i) {
      const auto right = std::bit_cast<Bits>(expected<T>(work, rank, ranks, i));
      if (std::bit_cast<Bits>(results[i]) != right) ++errors;
    }
  });
  return errors;
}

}  // namespace rota::bench
