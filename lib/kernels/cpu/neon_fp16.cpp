// Has the kernels for 64-bit ARM with half-precision arithmetic (ARMv8.2: the Cortex-A76 and
// servers). One instruction finds the minimum or the maximum of float16, where "neon" turns bits
// and compares them as integers. All other operations on float16 are done in float, as the bits
// must be those of "scalar".
//
// Converting int8 to float by way of half precision takes fewer instructions, but a Neoverse N1 is
// slower at it: for 16 decoded and added elements, llvm-mca counts 20.1 cycles instead of 13.4.
#if defined(__aarch64__)
#include "kernels/cpu/neon_fp16.h"

#include <arm_neon.h>
#include <sys/auxv.h>

#include <cstdint>
#include <cstring>

#define ROTA_TARGET __attribute__((target("arch=armv8.2-a+fp16")))

namespace rota::kernels::cpu {
namespace {

constexpr std::size_t kVectorBytes = 16;
constexpr std::size_t kTurnRegisters = 8;

}  // namespace
}  // namespace rota::kernels::cpu

#include "kernels/cpu/vectors.h"  // Included first: the next header uses its vectors.

#include "kernels/cpu/neon_lanes.h"  // Included first: the next header uses its conversions.

#include "kernels/cpu/half_vectors.h"  // Included first: the loops use its lanes.

#include "kernels/cpu/reduction_loops.h"
#include "kernels/cpu/rows.h"

namespace rota::kernels::cpu {
namespace {

// Eight float16 in a register, as they are stored.
struct EightHalves {
  static constexpr std::size_t kElementBytes = 2;
  static constexpr std::size_t kCount = kVectorBytes / kElementBytes;

  ROTA_TARGET static float16x8_t load(const std::byte* from) noexcept {
    float16x8_t lanes;
    std::memcpy(&lanes, from, sizeof(lanes));
    return lanes;
  }
  ROTA_TARGET static void store(std::byte* to, float16x8_t lanes) noexcept {
    std::memcpy(to, &lanes, sizeof(lanes));
  }
};

// For these instructions, -0 is less than +0, and a NaN is the result if there is one.
struct HalfMin {
  ROTA_TARGET static float16x8_t of(float16x8_t a, float16x8_t b, double) noexcept {
    return vminq_f16(a, b);
  }
};

struct HalfMax {
  ROTA_TARGET static float16x8_t of(float16x8_t a, float16x8_t b, double) noexcept {
    return vmaxq_f16(a, b);
  }
};

// HWCAP_FPHP and HWCAP_ASIMDHP are bits 9 and 10.
bool has_halves() noexcept {
  constexpr unsigned long kBoth = 1UL << 9 | 1UL << 10;
  return (::getauxval(AT_HWCAP) & kBoth) == kBoth;
}

}  // namespace

void min_of_halves(std::byte* accumulator, const std::byte* input, std::size_t count,
                   double factor) noexcept {
  combine<EightHalves, HalfMin, kTurnRegisters>(accumulator, input, count, factor);
}

void max_of_halves(std::byte* accumulator, const std::byte* input, std::size_t count,
                   double factor) noexcept {
  combine<EightHalves, HalfMax, kTurnRegisters>(accumulator, input, count, factor);
}

void min_of_halves_to_both(std::byte* to, std::byte* also_to, const std::byte* a,
                           const std::byte* b, std::size_t count, double factor) noexcept {
  combine_to_both<EightHalves, HalfMin, kTurnRegisters>(to, also_to, a, b, count, factor);
}

void max_of_halves_to_both(std::byte* to, std::byte* also_to, const std::byte* a,
                           const std::byte* b, std::size_t count, double factor) noexcept {
  combine_to_both<EightHalves, HalfMax, kTurnRegisters>(to, also_to, a, b, count, factor);
}

constinit const Variant kNeonFp16 = {"neon-fp16", has_halves};

}  // namespace rota::kernels::cpu
#endif
