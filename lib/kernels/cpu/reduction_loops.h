// Has the loops of reductions.h and their operations, written once for all instruction sets. The
// including file first defines what lanes.h needs, and also Float16Lanes and Bfloat16Lanes. Both do
// what Same does, but compute in float.
#pragma once
#include <cstdint>
#include <type_traits>

#include "kernels/lanes.h"
#include "kernels/operations.h"
#include "kernels/reductions.h"

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

template <class Operation, class Registers>
ROTA_TARGET ROTA_INLINE Registers combined(const Registers& a, const Registers& b,
                                           double factor) noexcept {
  Registers result;
  ROTA_UNROLL for (std::size_t i = 0; i < Registers::kSize; ++i) {
    result.each[i] = Operation::of(a.each[i], b.each[i], factor);
  }
  return result;
}

// The functions with "_turns" do all turns of so many registers, and move on to what is left.
template <class Turn, class Operation>
ROTA_TARGET ROTA_INLINE void combine_turns(std::byte*& accumulator, const std::byte*& input,
                                           std::size_t& count, double factor) noexcept {
  for (; count >= Turn::kCount; count -= Turn::kCount) {
    const auto a = Turn::load(accumulator);
    Turn::store(accumulator, combined<Operation>(a, Turn::load(input), factor));
    Turn::pass(accumulator);
    Turn::pass(input);
  }
}

template <class Format, class Operation, std::size_t kRegisters>
ROTA_TARGET void combine(std::byte* accumulator, const std::byte* input, std::size_t count,
                         double factor) noexcept {
  combine_turns<Grouped<Format, kRegisters>, Operation>(accumulator, input, count, factor);
  if constexpr (kRegisters > 1) {
    combine_turns<Grouped<Format, 1>, Operation>(accumulator, input, count, factor);
  }
  if (count == 0) return;
  store_some<Format>(
      accumulator,
      Operation::of(load_some<Format>(accumulator, count), load_some<Format>(input, count), factor),
      count);
}

template <class Turn, class Operation>
ROTA_TARGET ROTA_INLINE void combine_turns_to_both(std::byte*& to, std::byte*& also_to,
                                                   const std::byte*& a, const std::byte*& b,
                                                   std::size_t& count, double factor) noexcept {
  for (; count >= Turn::kCount; count -= Turn::kCount) {
    const auto left = Turn::load(a);
    const auto result = combined<Operation>(left, Turn::load(b), factor);
    Turn::store(to, result);
    Turn::store(also_to, result);
    Turn::pass(to);
    Turn::pass(also_to);
    Turn::pass(a);
    Turn::pass(b);
  }
}

template <class Format, class Operation, std::size_t kRegisters>
ROTA_TARGET void combine_to_both(std::byte* to, std::byte* also_to, const std::byte* a,
                                 const std::byte* b, std::size_t count, double factor) noexcept {
  using Turn = Grouped<Format, kRegisters>;
  combine_turns_to_both<Turn, Operation>(to, also_to, a, b, count, factor);
  if constexpr (kRegisters > 1) {
    combine_turns_to_both<Grouped<Format, 1>, Operation>(to, also_to, a, b, count, factor);
  }
  if (count == 0) return;
  const auto result =
      Operation::of(load_some<Format>(a, count), load_some<Format>(b, count), factor);
  store_some<Format>(to, result, count);
  store_some<Format>(also_to, result, count);
}

template <class Turn, class Number>
ROTA_TARGET ROTA_INLINE void scale_turns(std::byte*& values, std::size_t& count,
                                         Number factor) noexcept {
  for (; count >= Turn::kCount; count -= Turn::kCount) {
    auto turn = Turn::load(values);
    ROTA_UNROLL for (auto& lanes : turn.each) lanes = lanes * factor;
    Turn::store(values, turn);
    Turn::pass(values);
  }
}

template <class Format, std::size_t kRegisters>
ROTA_TARGET void scale(std::byte* values, std::size_t count, double factor) noexcept {
  const auto rounded = static_cast<typename Format::Number>(factor);
  scale_turns<Grouped<Format, kRegisters>>(values, count, rounded);
  if constexpr (kRegisters > 1) scale_turns<Grouped<Format, 1>>(values, count, rounded);
  if (count == 0) return;
  store_some<Format>(values, load_some<Format>(values, count) * rounded, count);
}

// The lanes of some formats are pairs of registers.
template <class Format>
constexpr std::size_t kTurnOf = sizeof(Format::load(nullptr)) > sizeof(Lanes<float>)
                                    ? kHalfTurn
                                    : kTurnRegisters;

template <class Format, class Operation, std::size_t kRegisters = kTurnOf<Format>>
constexpr Combines kCombines = {combine<Format, Operation, kRegisters>,
                                combine_to_both<Format, Operation, kRegisters>};

// The entries have the order of ReduceOp.
template <class Format, auto kInfinity, class Bits = decltype(kInfinity)>
constexpr TypeReductions kFloats = {{kCombines<Format, Sum>,
                                     kCombines<Format, Mean<typename Format::Number>>,
                                     kCombines<Format, Product>,
                                     kCombines<Same<Bits>, ByBits<kInfinity, Min>, kHalfTurn>,
                                     kCombines<Same<Bits>, ByBits<kInfinity, Max>, kHalfTurn>,
                                     {},
                                     {},
                                     {}},
                                    scale<Format, kTurnOf<Format>>};

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
