// 256 bits at a time. The target is an attribute of each function, not a flag of the file, so that
// no inline function of a header is compiled for a machine that has it.
#if defined(__x86_64__)
#include <immintrin.h>

#include "kernels/cpu/variants.h"

#define ROTA_TARGET __attribute__((target("avx2")))

namespace rota::kernels::cpu {
namespace {

template <class T>
struct Lanes;
template <>
struct Lanes<float> {
  static constexpr std::size_t kCount = 8;
  using Unaligned = __m256_u;
};
template <>
struct Lanes<double> {
  static constexpr std::size_t kCount = 4;
  using Unaligned = __m256d_u;
};

}  // namespace
}  // namespace rota::kernels::cpu

#include "kernels/cpu/vector_loops.h"

namespace rota::kernels::cpu {
namespace {

bool supported() noexcept { return __builtin_cpu_supports("avx2") != 0; }

}  // namespace

constinit const Variant kAvx2 = {"avx2", supported, copy, kArithmetic<float>, kArithmetic<double>};

}  // namespace rota::kernels::cpu
#endif
