// The loops of reductions.h and what they do to each element, written once for every instruction
// set. Beside what lanes.h asks for, its file first defines Float16Lanes and Bfloat16Lanes, which
// do what Same does but compute in float.
#pragma once
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cpu/lanes.h"
#include "kernels/reductions.h"

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

// The operations. L is Lanes<T>, which may be a plain number: what is less than an int becomes one
// when computed with, so the results are cast back. Integers come unsigned where they may wrap. The
// last argument is a mean's factor.
struct Sum {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return static_cast<L>(a + b);
  }
};

template <class Number>
struct Mean {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double factor) noexcept {
    return (a + b) * static_cast<Number>(factor);
  }
};

struct Product {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return static_cast<L>(a * b);
  }
};

struct Min {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return b < a ? b : a;
  }
};

struct Max {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return a < b ? b : a;
  }
};

struct BitAnd {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return static_cast<L>(a & b);
  }
};

struct BitOr {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return static_cast<L>(a | b);
  }
};

struct BitXor {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return static_cast<L>(a ^ b);
  }
};

// Min and Max of floating-point numbers by their bits, as signed integers. Those are in the order
// of the numbers, and -0 comes before +0, once the magnitude of negative ones is turned round.
// A NaN is whatever lies beyond infinity. Better than a comparison of numbers, which is false for
// NaN, takes -0 for +0, and wants 16-bit ones converted.
template <auto kInfinity, class Extreme>
struct ByBits {
  static constexpr auto kMagnitude = std::numeric_limits<decltype(kInfinity)>::max();

  template <class L>
  ROTA_TARGET static L turned(L bits) noexcept {  // Its own inverse.
    return static_cast<L>(bits < L{} ? bits ^ kMagnitude : bits);
  }
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    const L extreme = turned(Extreme::of(turned(a), turned(b), 1));
    const L a_or_extreme = static_cast<L>(a & kMagnitude) > kInfinity ? a : extreme;
    return static_cast<L>(b & kMagnitude) > kInfinity ? b : a_or_extreme;
  }
};

template <class Format, class Operation>
ROTA_TARGET void combine(std::byte* accumulator, const std::byte* input, std::size_t count,
                         double factor) noexcept {
  constexpr std::size_t kBytes = Format::kCount * Format::kElementBytes;
  for (; count >= Format::kCount; count -= Format::kCount) {
    const auto result = Operation::of(Format::load(accumulator), Format::load(input), factor);
    Format::store(accumulator, result);
    accumulator += kBytes;
    input += kBytes;
  }
  if (count == 0) return;
  store_some<Format>(
      accumulator,
      Operation::of(load_some<Format>(accumulator, count), load_some<Format>(input, count), factor),
      count);
}

template <class Format, class Operation>
ROTA_TARGET void combine_to_both(std::byte* to, std::byte* also_to, const std::byte* a,
                                 const std::byte* b, std::size_t count, double factor) noexcept {
  constexpr std::size_t kBytes = Format::kCount * Format::kElementBytes;
  for (; count >= Format::kCount; count -= Format::kCount) {
    const auto result = Operation::of(Format::load(a), Format::load(b), factor);
    Format::store(to, result);
    Format::store(also_to, result);
    to += kBytes;
    also_to += kBytes;
    a += kBytes;
    b += kBytes;
  }
  if (count == 0) return;
  const auto result =
      Operation::of(load_some<Format>(a, count), load_some<Format>(b, count), factor);
  store_some<Format>(to, result, count);
  store_some<Format>(also_to, result, count);
}

template <class Format>
ROTA_TARGET void scale(std::byte* values, std::size_t count, double factor) noexcept {
  constexpr std::size_t kBytes = Format::kCount * Format::kElementBytes;
  const auto rounded = static_cast<typename Format::Number>(factor);
  for (; count >= Format::kCount; count -= Format::kCount) {
    Format::store(values, Format::load(values) * rounded);
    values += kBytes;
  }
  if (count == 0) return;
  store_some<Format>(values, load_some<Format>(values, count) * rounded, count);
}

template <class Format, class Operation>
constexpr Combines kCombines = {combine<Format, Operation>, combine_to_both<Format, Operation>};

// In the order of ReduceOp.
template <class Format, auto kInfinity, class Bits = decltype(kInfinity)>
constexpr TypeReductions kFloats = {{kCombines<Format, Sum>,
                                     kCombines<Format, Mean<typename Format::Number>>,
                                     kCombines<Format, Product>,
                                     kCombines<Same<Bits>, ByBits<kInfinity, Min>>,
                                     kCombines<Same<Bits>, ByBits<kInfinity, Max>>,
                                     {},
                                     {},
                                     {}},
                                    scale<Format>};

template <class T, class Bits = std::make_unsigned_t<T>>
constexpr TypeReductions kIntegers = {{kCombines<Same<Bits>, Sum>,
                                       {},
                                       kCombines<Same<Bits>, Product>,
                                       kCombines<Same<T>, Min>,
                                       kCombines<Same<T>, Max>,
                                       kCombines<Same<Bits>, BitAnd>,
                                       kCombines<Same<Bits>, BitOr>,
                                       kCombines<Same<Bits>, BitXor>},
                                      nullptr};

constexpr Reductions make_reductions(const Variant& variant) noexcept {
  return {&variant,
          {{},  // Bytes can be moved, not reduced.
           kFloats<Float16Lanes, std::int16_t{0x7c00}>,
           kFloats<Bfloat16Lanes, std::int16_t{0x7f80}>,
           kFloats<Same<float>, std::int32_t{0x7f80'0000}>,
           kFloats<Same<double>, std::int64_t{0x7ff0'0000'0000'0000}>,
           kIntegers<std::int8_t>,
           kIntegers<std::uint8_t>,
           kIntegers<std::int32_t>,
           kIntegers<std::int64_t>}};
}

}  // namespace
}  // namespace rota::kernels::cpu
