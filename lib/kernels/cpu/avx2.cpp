// Has the kernels that compute with 256 bits at a time. The target (the instruction set) is an
// attribute of each function, not a flag of the file: otherwise inline functions of headers could
// be compiled with instructions that other machines lack.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>

#define ROTA_TARGET __attribute__((target("avx2,f16c")))

namespace rota::kernels::cpu {
namespace {

constexpr std::size_t kVectorBytes = 32;
constexpr std::size_t kTurnRegisters = 1;  // The processor overlaps turns itself.

ROTA_TARGET inline __m256 widen(__m128i lanes) noexcept { return _mm256_cvtph_ps(lanes); }

ROTA_TARGET inline __m128i narrow(__m256 lanes) noexcept {
  return _mm256_cvtps_ph(lanes, _MM_FROUND_TO_NEAREST_INT);
}

ROTA_TARGET inline __m256 square_root(__m256 lanes) noexcept { return _mm256_sqrt_ps(lanes); }
ROTA_TARGET inline __m256d square_root(__m256d lanes) noexcept { return _mm256_sqrt_pd(lanes); }

using StoredBytes = long long;  // Eight bytes.

ROTA_TARGET inline __m256 widen_bytes(long long bytes) noexcept {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_cvtsi64_si128(bytes)));
}

// Gathers four bytes in each half of the register, then joins both halves.
ROTA_TARGET inline long long last_bytes(__m256 lanes) noexcept {
  const __m256i fours =
      _mm256_shuffle_epi8(_mm256_castps_si256(lanes), _mm256_set1_epi32(0x0c08'0400));
  return _mm_cvtsi128_si64(
      _mm_unpacklo_epi32(_mm256_castsi256_si128(fours), _mm256_extracti128_si256(fours, 1)));
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

// Asks the processor itself, because Clang 14 has no name for F16C: leaf 1, bit 29 of ECX.
bool has_f16c() noexcept {
  unsigned eax = 1;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  __asm__("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
  return (ecx >> 29 & 1U) != 0;
}

bool supported() noexcept { return __builtin_cpu_supports("avx2") != 0 && has_f16c(); }

}  // namespace

constinit const Variant kAvx2 = {"avx2", supported};
constinit const Reductions kAvx2Reductions = make_reductions(kAvx2);
constinit const Codings kAvx2Codings = make_codings(kAvx2);
constinit const Optimizers kAvx2Optimizers = make_optimizers(kAvx2);
constinit const Tiles kAvx2Tiles = make_tiles(kAvx2);

}  // namespace rota::kernels::cpu
#endif
