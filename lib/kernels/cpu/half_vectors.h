// Has 16-bit floats for vectors.h. The including file first defines what vectors.h needs, and also
// widen and narrow. `widen` converts float16 to float, and `narrow` converts floats back. Both
// convert as many numbers as a register has lanes of 32 bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/vectors.h"

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

struct Float16Lanes {
  using Number = float;
  static constexpr std::size_t kCount = kVectorBytes / sizeof(float);
  static constexpr std::size_t kElementBytes = 2;
  using Stored = decltype(narrow(Lanes<float>{}));

  ROTA_TARGET static Lanes<float> load(const std::byte* from) noexcept {
    Stored stored;
    std::memcpy(&stored, from, sizeof(stored));
    return widen(stored);
  }
  ROTA_TARGET static void store(std::byte* to, Lanes<float> lanes) noexcept {
    const Stored stored = narrow(lanes);
    std::memcpy(to, &stored, sizeof(stored));
  }
};

struct FloatPair {  // Two registers of floats.
  Lanes<float> even;
  Lanes<float> odd;

  ROTA_TARGET friend FloatPair operator+(FloatPair a, FloatPair b) noexcept {
    return {a.even + b.even, a.odd + b.odd};
  }
  ROTA_TARGET friend FloatPair operator*(FloatPair a, FloatPair b) noexcept {
    return {a.even * b.even, a.odd * b.odd};
  }
  ROTA_TARGET friend FloatPair operator*(FloatPair a, float b) noexcept {
    return {a.even * b, a.odd * b};
  }
};

// Two bfloat16 are loaded as the bits of one float; the bfloat16 with the odd index is the upper
// half. So no element changes its position: moving elements takes longer than adding them. The
// conversion of AVX-512 is not used, because this conversion treats subnormal numbers as zero.
struct Bfloat16Lanes {
  using Number = float;
  using Bits = Lanes<std::uint32_t>;
  static constexpr std::size_t kCount = kVectorBytes / 2;
  static constexpr std::size_t kElementBytes = 2;
  static constexpr std::uint32_t kUpper = 0xffff'0000;

  ROTA_TARGET static FloatPair load(const std::byte* from) noexcept {
    Bits bits;
    std::memcpy(&bits, from, sizeof(bits));
    return {reinterpret_cast<Lanes<float>>(bits << 16),
            reinterpret_cast<Lanes<float>>(bits & kUpper)};
  }
  ROTA_TARGET static void store(std::byte* to, FloatPair lanes) noexcept {
    const Bits bits = rounded(lanes.even) >> 16 | (rounded(lanes.odd) & kUpper);
    std::memcpy(to, &bits, sizeof(bits));
  }

 private:
  // Returns the rounded number in the upper half of each lane. The lower half of a NaN is zero,
  // because the NaN came from a bfloat16 or from an invalid operation. So no carry changes a NaN.
  ROTA_TARGET static Bits rounded(Lanes<float> lanes) noexcept {
    const auto bits = reinterpret_cast<Bits>(lanes);
    return bits + 0x7fff + (bits >> 16 & 1);
  }
};

}  // namespace
}  // namespace rota::kernels::cpu
