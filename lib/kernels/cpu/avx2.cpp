// 256 bits at a time. The target is an attribute of each function, not a flag of the file, so that
// no inline function of a header is compiled for a machine that has it.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>

#define ROTA_TARGET __attribute__((target("avx2,f16c")))

namespace rota::kernels::cpu {
namespace {

constexpr std::size_t kVectorBytes = 32;

ROTA_TARGET inline __m256 widen(__m128i lanes) noexcept { return _mm256_cvtph_ps(lanes); }

ROTA_TARGET inline __m128i narrow(__m256 lanes) noexcept {
  return _mm256_cvtps_ph(lanes, _MM_FROUND_TO_NEAREST_INT);
}

}  // namespace
}  // namespace rota::kernels::cpu

#include "kernels/cpu/vectors.h"

namespace rota::kernels::cpu {
namespace {

// Asked of the processor itself, as Clang 14 has no word for it: leaf 1, bit 29 of ECX.
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

constinit const Variant kAvx2 = make_variant("avx2", supported);

}  // namespace rota::kernels::cpu
#endif
