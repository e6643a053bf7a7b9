// The expected results of kernels, computed in another way: one element at a time. 16-bit floats
// are converted with double arithmetic, as the format is defined.
#pragma once
#include <rota/reduce_op.h>
#include <rota/values.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "kernels/norm_order.h"
#include "kernels/variant.h"

namespace rota::kernels::testing {

struct HalfFormat {
  int exponent_bits;
  int fraction_bits;
};

template <class T>
constexpr HalfFormat kFormatOf = std::is_same_v<T, Float16> ? HalfFormat{5, 10} : HalfFormat{8, 7};

// These functions follow the definition of an IEEE interchange format. A double holds every value
// of both formats.
double decode(std::uint16_t bits, HalfFormat format);
std::uint16_t encode(double value, HalfFormat format);  // To nearest, ties to even.

template <class T>
constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>;

template <class T>
constexpr bool kIsFloat = kIsHalf<T> || std::is_floating_point_v<T>;

template <class T>
double to_double(T value) {
  if constexpr (kIsHalf<T>) {
    return decode(value.bits(), kFormatOf<T>);
  } else {
    return static_cast<double>(value);
  }
}

template <class T>
bool same(T a, T b) {  // Compares bits, but all NaN are equal.
  if constexpr (kIsFloat<T>) {
    if (std::isnan(to_double(a)) && std::isnan(to_double(b))) return true;
  }
  using Bytes = std::array<unsigned char, sizeof(T)>;
  return std::bit_cast<Bytes>(a) == std::bit_cast<Bytes>(b);
}

template <class T>
T extreme_of(T a, T b, bool least) {
  if constexpr (kIsFloat<T>) {
    const double first = to_double(a);
    const double second = to_double(b);
    if (std::isnan(first)) return a;
    if (std::isnan(second)) return b;
    if (first == second) return std::signbit(first) == least ? a : b;
    return (first < second) == least ? a : b;
  } else {
    return (a < b) == least ? a : b;
  }
}

// Computes modulo 2^64. The cast to T keeps the lower bits, so the result wraps as T does.
template <class T>
T combine_integers(ReduceOp op, T a, T b) {
  using Unsigned = std::make_unsigned_t<T>;
  const auto first = static_cast<std::uint64_t>(static_cast<Unsigned>(a));
  const auto second = static_cast<std::uint64_t>(static_cast<Unsigned>(b));
  const std::uint64_t result = op == ReduceOp::kSum       ? first + second
                               : op == ReduceOp::kProduct ? first * second
                               : op == ReduceOp::kBitAnd  ? first & second
                               : op == ReduceOp::kBitOr   ? first | second
                                                          : first ^ second;
  return static_cast<T>(result);
}

// Computes in Number, which rounds as the kernels must. `factor`: the factor of a mean.
template <class Number>
Number combine_numbers(ReduceOp op, Number a, Number b, double factor) {
  if (op == ReduceOp::kProduct) return a * b;
  const Number sum = a + b;
  return op == ReduceOp::kMean ? sum * static_cast<Number>(factor) : sum;
}

template <class T>
T expected_of(ReduceOp op, T a, T b, double factor) {
  if (op == ReduceOp::kMin || op == ReduceOp::kMax) return extreme_of(a, b, op == ReduceOp::kMin);
  if constexpr (kIsHalf<T>) {
    const auto result = combine_numbers(op, static_cast<float>(to_double(a)),
                                        static_cast<float>(to_double(b)), factor);
    return T::from_bits(encode(result, kFormatOf<T>));
  } else if constexpr (kIsFloat<T>) {
    return combine_numbers(op, a, b, factor);
  } else {
    return combine_integers(op, a, b);
  }
}

// Adds up squares in the order of norm_order.h, in another way: element by element.
template <class T>
double norm_in_order(const std::vector<T>& values) {
  const auto halved = [](std::vector<double> sums) {
    while (sums.size() > 1) {
      const std::size_t half = sums.size() / 2;
      for (std::size_t i = 0; i < half; ++i) sums[i] += sums[half + i];
      sums.resize(half);
    }
    return sums[0];
  };
  std::vector<double> totals(kNormThreads);
  for (std::size_t block = 0; block * kNormBlock < values.size(); ++block) {
    std::vector<double> lanes(kNormLanes * kNormThreads);
    for (std::size_t i = 0; i < kNormBlock && block * kNormBlock + i < values.size(); ++i) {
      const double value = values[block * kNormBlock + i];
      lanes[i % lanes.size()] += value * value;
    }
    std::vector<double> sums(kNormThreads);
    for (std::size_t i = 0; i < kNormThreads; ++i) {
      sums[i] = lanes[4 * i] + lanes[4 * i + 1] + lanes[4 * i + 2] + lanes[4 * i + 3];
    }
    totals[block % kNormThreads] += halved(sums);
  }
  return halved(totals);
}

// Returns the rows of a table of kernels that this machine can run.
template <class Kernels>
std::vector<const Kernels*> supported() {
  std::vector<const Kernels*> rows;
  for (const Kernels* row : Kernels::table()) {
    if (row->variant->supported()) rows.push_back(row);
  }
  return rows;
}

// Returns counts around the width of every register, in elements and in bytes, and some prime
// counts.
std::vector<std::size_t> awkward_counts();

// Returns values that an operation could get wrong: NaN, infinities, signed zeros, tiny values,
// ends of ranges. Signalling and other NaN come from any_value().
template <class T>
std::vector<T> special_values() {
  if constexpr (kIsHalf<T>) {
    std::vector<T> values;
    const auto infinity = static_cast<unsigned>(encode(HUGE_VAL, kFormatOf<T>));
    const auto one = static_cast<unsigned>(encode(1, kFormatOf<T>));
    const unsigned smallest = 1U << kFormatOf<T>.fraction_bits;  // The smallest normal number.
    for (const unsigned bits : {0U, 1U, 2U, smallest - 1, smallest, smallest + 1, one - 1, one,
                                one + 1, infinity - 1, infinity, infinity | 1, 0x7fffU}) {
      values.push_back(T::from_bits(static_cast<std::uint16_t>(bits)));
      values.push_back(T::from_bits(static_cast<std::uint16_t>(bits | 0x8000U)));
    }
    return values;
  } else if constexpr (kIsFloat<T>) {
    using Limits = std::numeric_limits<T>;
    return {Limits::quiet_NaN(),
            -Limits::quiet_NaN(),
            Limits::infinity(),
            -Limits::infinity(),
            T{0},
            -T{0},
            Limits::denorm_min(),
            -Limits::denorm_min(),
            Limits::min() / 3,
            Limits::min(),
            Limits::max(),
            -Limits::max(),
            Limits::epsilon(),
            T{1},
            T{-1}};
  } else {
    using Limits = std::numeric_limits<T>;
    return {Limits::min(), static_cast<T>(Limits::min() + 1), static_cast<T>(-1), T{0},
            T{1},          static_cast<T>(Limits::max() - 1), Limits::max()};
  }
}

// Returns a special value in one third of all calls, random bits in another third, and otherwise a
// number of ordinary size. For integers, the last third is random bits, too.
template <class T>
T any_value(std::mt19937_64& random) {
  const std::uint64_t kind = random() % 3;
  if (kind == 0) {
    static const std::vector<T> kSpecial = special_values<T>();
    return kSpecial[static_cast<std::size_t>(random() % kSpecial.size())];
  }
  if (kind == 1 || !kIsFloat<T>) {
    const std::uint64_t bits = random();
    T value;
    std::memcpy(&value, reinterpret_cast<const std::byte*>(&bits), sizeof(value));
    return value;
  }
  return static_cast<T>(static_cast<float>(random() % 4000) / 256.0F - 7.0F);
}

template <class T>
std::vector<T> any_values(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = any_value<T>(random);
  return values;
}

template <class T>
std::byte* bytes_at(std::vector<T>& values, std::size_t index = 0) {
  return reinterpret_cast<std::byte*>(values.data() + index);
}

template <class T>
const std::byte* bytes_at(const std::vector<T>& values, std::size_t index = 0) {
  return reinterpret_cast<const std::byte*>(values.data() + index);
}

}  // namespace rota::kernels::testing
