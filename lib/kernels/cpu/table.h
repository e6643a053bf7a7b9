// Which loop is for what: the one table that a variant is. Included once by the file of each
// instruction set, which first defines what the loops ask for.
#pragma once
#include <type_traits>

#include "kernels/cpu/coding_loops.h"
#include "kernels/cpu/optimizer_loops.h"
#include "kernels/cpu/reduction_loops.h"
#include "kernels/cpu/tile_loops.h"
#include "kernels/cpu/variants.h"

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

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

template <class T>
constexpr Arithmetic<T> arithmetic() noexcept {
  return {sgd_update<T>, kTransforms<T, 3>, kTransforms<T, 5>};
}

constexpr Variant make_variant(const char* name, bool (*supported)() noexcept) noexcept {
  return {name,
          supported,
          {{},  // Bytes can be moved, not reduced.
           kFloats<Float16Lanes, std::int16_t{0x7c00}>,
           kFloats<Bfloat16Lanes, std::int16_t{0x7f80}>,
           kFloats<Same<float>, std::int32_t{0x7f80'0000}>,
           kFloats<Same<double>, std::int64_t{0x7ff0'0000'0000'0000}>,
           kIntegers<std::int8_t>,
           kIntegers<std::uint8_t>,
           kIntegers<std::int32_t>,
           kIntegers<std::int64_t>},
          {{},  // What travels as it is, is not coded.
           kCoding<OfHalves<Bfloat16InLine>>,
           kCoding<OfHalves<Float16Lanes>>,
           kCoding<OfInt8<false>>,
           kCoding<OfInt8<true>>,
           kCoding<OfTopK>},
          arithmetic<float>(),
          arithmetic<double>()};
}

}  // namespace
}  // namespace rota::kernels::cpu
