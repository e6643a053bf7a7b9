// 16-bit floats for vectors.h. The file of an instruction set first defines what that asks for, and
// widen and narrow, which turn as many float16 as it has lanes of 32 bits into float and back.
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

struct FloatPair {  // Twice as many floats as a register has.
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

// Two bfloat16 fill a float, the odd one as its upper half: so none ever changes its place, which
// would take longer than the sum. AVX-512's own conversion takes subnormal numbers for zero.
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
  // In the upper half. The lower one of a NaN is empty, as it came from a bfloat16 or from no
  // number at all, so that no carry makes it something else.
  ROTA_TARGET static Bits rounded(Lanes<float> lanes) noexcept {
    const auto bits = reinterpret_cast<Bits>(lanes);
    return bits + 0x7fff + (bits >> 16 & 1);
  }
};

}  // namespace
}  // namespace rota::kernels::cpu
