// Defines the two 16-bit floating-point types. They only store and convert values; arithmetic is
// done in float.
#pragma once
#include <bit>
#include <cstdint>

#include <rota/export.h>

namespace rota {

// IEEE binary16: 11 significant bits, range ±65504, subnormal below 2⁻¹⁴. A default-initialized
// value is indeterminate, as with float.
class ROTA_EXPORT Float16 {
 public:
  Float16() noexcept = default;
  // Rounds to nearest, ties to even. Magnitudes of 65520 or more become infinite; NaN stays NaN.
  explicit constexpr Float16(float value) noexcept : bits_(round(value)) {}
  explicit constexpr operator float() const noexcept;  // Exact.

  static constexpr Float16 from_bits(std::uint16_t bits) noexcept {
    return std::bit_cast<Float16>(bits);
  }
  constexpr std::uint16_t bits() const noexcept { return bits_; }

  // Compares as numbers: -0 equals +0, and NaN equals nothing.
  friend constexpr bool operator==(Float16 a, Float16 b) noexcept {
    return static_cast<float>(a) == static_cast<float>(b);
  }

 private:
  static constexpr std::uint16_t round(float value) noexcept;
  std::uint16_t bits_;
};

// The upper half of a float: the range of float, with 8 significant bits. A default-initialized
// value is indeterminate, as with float.
class ROTA_EXPORT Bfloat16 {
 public:
  Bfloat16() noexcept = default;
  // Rounds to nearest, ties to even. NaN stays NaN.
  explicit constexpr Bfloat16(float value) noexcept : bits_(round(value)) {}
  explicit constexpr operator float() const noexcept {  // Exact.
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16);
  }

  static constexpr Bfloat16 from_bits(std::uint16_t bits) noexcept {
    return std::bit_cast<Bfloat16>(bits);
  }
  constexpr std::uint16_t bits() const noexcept { return bits_; }

  // Compares as numbers: -0 equals +0, and NaN equals nothing.
  friend constexpr bool operator==(Bfloat16 a, Bfloat16 b) noexcept {
    return static_cast<float>(a) == static_cast<float>(b);
  }

 private:
  static constexpr std::uint16_t round(float value) noexcept;
  std::uint16_t bits_;
};

constexpr Float16::operator float() const noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits_ & 0x8000U) << 16;
  const std::uint32_t magnitude = bits_ & 0x7fffU;
  if (magnitude < 0x0400U) {  // Subnormal: a multiple of 2⁻²⁴, which a float holds exactly.
    const float value = static_cast<float>(magnitude) * 0x1p-24F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
  }
  // The exponent's bias changes from 15 to 127. The exponent of infinity and NaN stays all ones.
  const std::uint32_t bias = magnitude >= 0x7c00U ? 255U - 31U : 127U - 15U;
  return std::bit_cast<float>(sign | ((magnitude << 13) + (bias << 23)));
}

constexpr std::uint16_t Float16::round(float value) noexcept {
  const auto all = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = all >> 16 & 0x8000U;
  const std::uint32_t magnitude = all & 0x7fff'ffffU;
  std::uint32_t rounded = 0;
  if (magnitude > 0x7f80'0000U) {
    rounded = 0x7e00U | (magnitude >> 13 & 0x03ffU);  // Quiet NaN: zeros would mean infinity.
  } else if (magnitude >= std::bit_cast<std::uint32_t>(65520.0F)) {
    rounded = 0x7c00U;
  } else if (magnitude < std::bit_cast<std::uint32_t>(0x1p-14F)) {
    // In a sum of 0.5 and a small number, the last bit weighs 2⁻²⁴: the addition rounds at the
    // right bit.
    const float sum = std::bit_cast<float>(magnitude) + 0.5F;
    rounded = std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(0.5F);
  } else {
    // Adds half a unit minus 1, and 1 more if the last kept bit is odd: ties go to even. A carry
    // gives the next exponent.
    const std::uint32_t rebiased = magnitude - ((127U - 15U) << 23);
    rounded = (rebiased + 0x0fffU + (rebiased >> 13 & 1U)) >> 13;
  }
  return static_cast<std::uint16_t>(sign | rounded);
}

constexpr std::uint16_t Bfloat16::round(float value) noexcept {
  const auto all = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (all & 0x7fff'ffffU) > 0x7f80'0000U;
  // Adds half a unit minus 1, and 1 more if the last kept bit is odd: ties go to even. A carry
  // gives the next exponent.
  const std::uint32_t rounded =
      is_nan ? all | 0x0040'0000U : all + 0x7fffU + (all >> 16 & 1U);  // Quiet: stays a NaN.
  return static_cast<std::uint16_t>(rounded >> 16);
}

}  // namespace rota
