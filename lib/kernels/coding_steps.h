// Has the steps of codings: what a kernel does to one element, or to a register of elements.
// Kernels for CPUs and for GPUs have the same source. The including file first defines ROTA_TARGET;
// Lanes<T>; converted<T>, which converts lanes of 32 bits to as many T and back.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/codings.h"

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

using Floats = Lanes<float>;
using Words = Lanes<std::uint32_t>;
using Integers = Lanes<std::int32_t>;

template <class To, class From>
ROTA_TARGET To bits_of(From from) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

ROTA_TARGET inline Integers larger(Integers most, Floats lanes) noexcept {
  const auto magnitude = static_cast<Integers>(bits_of<Integers>(lanes) & 0x7fff'ffff);
  return magnitude > most ? magnitude : most;
}

struct Quantization {
  float step;
  float steps;  // 1 / step.

  ROTA_TARGET bool is_number() const noexcept { return step == step; }
};

// One quantization step is the largest magnitude / 127. If a value is infinity or NaN, the step is
// NaN, and so is the whole block. Its bytes are then zeros: processors do not agree on the last
// bits of a NaN.
ROTA_TARGET inline Quantization quantization_of(float largest) noexcept {
  constexpr float kTooSmall = 1e-36F;  // Below it, 127 / largest may overflow.
  constexpr float kLargest = std::numeric_limits<float>::max();
  if (!(largest <= kLargest)) return {std::numeric_limits<float>::quiet_NaN(), 0};
  const bool vanishes = largest < kTooSmall;
  return {vanishes ? 0 : largest / 127, vanishes ? 0 : 127 / largest};
}

// Returns numbers that are uniform from -1/2 to 1/2: hashes of the elements' positions and of the
// key.
ROTA_TARGET inline Floats chance(Dither dither, std::size_t index) noexcept {
  static constexpr std::array<std::uint32_t, 16> kPlaces = {0, 1, 2,  3,  4,  5,  6,  7,
                                                            8, 9, 10, 11, 12, 13, 14, 15};
  Words word;
  std::memcpy(&word, kPlaces.data(), sizeof(word));
  word = word + (dither.first + static_cast<std::uint32_t>(index));
  word = word * 0x9e37'79b1U + dither.key;
  word = (word ^ word >> 16) * 0x7feb'352dU;
  word = (word ^ word >> 15) * 0x846c'a68bU;
  word = word ^ word >> 16;
  return converted<float>(bits_of<Integers>(static_cast<Words>(word >> 8))) * 0x1p-24F - 0.5F;
}

// Once 1.5 * 2^23 is added to a float, the last bits of the sum are the nearest integer.
template <bool kStochastic>
ROTA_TARGET Floats with_last_bits(Floats steps, Dither dither, std::size_t index) noexcept {
  if constexpr (kStochastic) {
    steps = steps + chance(dither, index);
    steps = steps > 127.0F ? Floats{} + 127.0F : steps;
    steps = steps < -127.0F ? Floats{} - 127.0F : steps;
  }
  return steps + 0x1.8p23F;
}

struct Take {
  ROTA_TARGET static Floats of(Floats, Floats decoded, float) noexcept { return decoded; }
};
struct Add {
  ROTA_TARGET static Floats of(Floats from, Floats decoded, float factor) noexcept {
    return (from + decoded) * factor;
  }
};
// Computes what the encoding has lost of a value, which is added to a later value. If the loss is
// not finite, it would spoil all later values, so it becomes 0.
struct Lose {
  ROTA_TARGET static Floats of(Floats from, Floats decoded, float factor) noexcept {
    const Floats lost = (from - decoded) * factor;
    return lost * 0.0F == Floats{} ? lost : Floats{};
  }
};

}  // namespace
}  // namespace rota::kernels::cpu
