// Has the kernels that compute with 512 bits at a time. The target (the instruction set) is an
// attribute of each function, not a flag of the file: otherwise inline functions of headers could
// be compiled with instructions that other machines lack.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>

#define ROTA_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

namespace rota::kernels::cpu {
namespace {

constexpr std::size_t kVectorBytes = 64;
constexpr std::size_t kTurnRegisters = 1;  // The processor overlaps turns itself.

// A mask of all lanes, for the masked forms of intrinsics: GCC 12 warns that the plain forms read
// uninitialized values.
constexpr __mmask16 kAll = 0xffff;
constexpr __mmask8 kAllWide = 0xff;  // The same for lanes of 64 bits.

ROTA_TARGET inline __m512 widen(__m256i lanes) noexcept {
  return _mm512_maskz_cvtph_ps(kAll, lanes);
}

ROTA_TARGET inline __m256i narrow(__m512 lanes) noexcept {
  return _mm512_maskz_cvtps_ph(kAll, lanes, _MM_FROUND_TO_NEAREST_INT);
}

ROTA_TARGET inline __m512 square_root(__m512 lanes) noexcept {
  return _mm512_maskz_sqrt_ps(kAll, lanes);
}
ROTA_TARGET inline __m512d square_root(__m512d lanes) noexcept {
  return _mm512_maskz_sqrt_pd(kAllWide, lanes);
}

using StoredBytes = __m128i;

ROTA_TARGET inline __m512 widen_bytes(__m128i bytes) noexcept {
  return _mm512_maskz_cvtepi32_ps(kAll, _mm512_maskz_cvtepi8_epi32(kAll, bytes));
}

ROTA_TARGET inline __m128i last_bytes(__m512 lanes) noexcept {
  return _mm512_maskz_cvtepi32_epi8(kAll, _mm512_castps_si512(lanes));
}

}  // namespace
}  // namespace rota::kernels::cpu

#include "kernels/cpu/half_vectors.h"  // Included first: the loops use its lanes.

#include "kernels/cpu/coding_loops.h"
#include "kernels/cpu/optimizer_loops.h"
#include "kernels/cpu/reduction_loops.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/tile_loops.h"

namespace rota::kernels::cpu {
namespace {

bool supported() noexcept {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}

}  // namespace

constinit const Variant kAvx512 = {"avx512", supported};
constinit const Reductions kAvx512Reductions = make_reductions(kAvx512);
constinit const Codings kAvx512Codings = make_codings(kAvx512);
constinit const Optimizers kAvx512Optimizers = make_optimizers(kAvx512);
constinit const Tiles kAvx512Tiles = make_tiles(kAvx512);

}  // namespace rota::kernels::cpu
#endif
