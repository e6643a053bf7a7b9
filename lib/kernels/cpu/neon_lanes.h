// Has what the loops need of NEON on 64-bit ARM, for each variant of it: conversions that GCC 12
// makes worse. The including file first includes vectors.h.
#pragma once
#include <arm_neon.h>

#include <cstdint>

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

ROTA_TARGET inline float32x4_t widen(float16x4_t lanes) noexcept { return vcvt_f32_f16(lanes); }

ROTA_TARGET inline float16x4_t narrow(float32x4_t lanes) noexcept { return vcvt_f16_f32(lanes); }

// GCC 12 would convert lane after lane: for 16 elements, decoding a bfloat16 and adding it would
// take 68 instructions instead of 27.
using FourHalves = VectorOf<std::uint16_t, 8>::Type;
using FourWords = VectorOf<std::uint32_t, 16>::Type;

ROTA_TARGET inline FourWords in_upper_half(FourHalves halves) noexcept {
  return reinterpret_cast<FourWords>(vshll_n_u16(reinterpret_cast<uint16x4_t>(halves), 16));
}

ROTA_TARGET inline FourHalves upper_half(FourWords words) noexcept {
  return reinterpret_cast<FourHalves>(vshrn_n_u32(reinterpret_cast<uint32x4_t>(words), 16));
}

}  // namespace
}  // namespace rota::kernels::cpu
