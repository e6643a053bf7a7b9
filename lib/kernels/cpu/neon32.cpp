// Has the reductions for NEON on 32-bit ARM, where NEON adds and compares integers. NEON would
// replace subnormal floats by 0. So the floating-point unit adds floats, one at a time, but several
// in a turn of a loop. All other kinds of kernels are those of "scalar".
#if defined(__arm__) && __ARM_ARCH >= 7
#include <arm_neon.h>
#include <sys/auxv.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <rota/float16.h>

#define ROTA_TARGET __attribute__((target("fpu=neon")))

namespace rota::kernels::cpu {
namespace {

constexpr std::size_t kTurnRegisters = 8;

template <class T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(16)));
};
template <class T>
using Lanes = std::conditional_t<std::is_floating_point_v<T>, T, typename VectorOf<T>::Type>;

}  // namespace
}  // namespace rota::kernels::cpu

#include "kernels/half_numbers.h"  // Included first: the loops use its lanes.

#include "kernels/cpu/reduction_loops.h"
#include "kernels/cpu/rows.h"

namespace rota::kernels::cpu {
namespace {

// HWCAP_NEON is bit 12.
bool has_neon() noexcept { return (::getauxval(AT_HWCAP) & 1UL << 12) != 0; }

}  // namespace

constinit const Variant kNeon = {"neon", has_neon};
constinit const Reductions kNeonReductions = make_reductions(kNeon);

}  // namespace rota::kernels::cpu
#endif
