// Has the kernels that compute with NEON, 128 bits at a time, on ARM.
#if defined(__aarch64__)
#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#define ROTA_TARGET

namespace rota::kernels::cpu {
namespace {

constexpr std::size_t kVectorBytes = 16;
constexpr std::size_t kTurnRegisters = 8;

}  // namespace
}  // namespace rota::kernels::cpu

#include "kernels/cpu/vectors.h"  // Included first: the functions below use its vectors.

#include "kernels/cpu/neon_lanes.h"

namespace rota::kernels::cpu {
namespace {

inline float32x4_t square_root(float32x4_t lanes) noexcept { return vsqrtq_f32(lanes); }
inline float64x2_t square_root(float64x2_t lanes) noexcept { return vsqrtq_f64(lanes); }

using StoredBytes = int8x16_t;

inline float32x4x4_t widen_bytes(int8x16_t bytes) noexcept {
  const int16x8_t low = vmovl_s8(vget_low_s8(bytes));
  const int16x8_t high = vmovl_high_s8(bytes);
  return {{vcvtq_f32_s32(vmovl_s16(vget_low_s16(low))), vcvtq_f32_s32(vmovl_high_s16(low)),
           vcvtq_f32_s32(vmovl_s16(vget_low_s16(high))), vcvtq_f32_s32(vmovl_high_s16(high))}};
}

// Takes the lower half of each lane, twice.
inline int8x16_t last_bytes(float32x4x4_t lanes) noexcept {
  const auto halves = [](float32x4_t a, float32x4_t b) noexcept {
    return vreinterpretq_s8_s16(vuzp1q_s16(vreinterpretq_s16_f32(a), vreinterpretq_s16_f32(b)));
  };
  return vuzp1q_s8(halves(lanes.val[0], lanes.val[1]), halves(lanes.val[2], lanes.val[3]));
}

}  // namespace
}  // namespace rota::kernels::cpu

#include "kernels/cpu/half_vectors.h"  // Included first: the loops use its lanes.

#include "kernels/cpu/coding_loops.h"
#include "kernels/cpu/neon_fp16.h"
#include "kernels/cpu/optimizer_loops.h"
#include "kernels/cpu/reduction_loops.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/tile_loops.h"

namespace rota::kernels::cpu {
namespace {

bool supported() noexcept { return true; }

constexpr Reductions with_extremes_of_halves(Reductions reductions) noexcept {
  auto& combines = reductions.types[static_cast<std::size_t>(DataType::kFloat16)].combines;
  combines[static_cast<std::size_t>(ReduceOp::kMin)] = {min_of_halves, min_of_halves_to_both};
  combines[static_cast<std::size_t>(ReduceOp::kMax)] = {max_of_halves, max_of_halves_to_both};
  return reductions;
}

}  // namespace

constinit const Variant kNeon = {"neon", supported};
constinit const Reductions kNeonReductions = make_reductions(kNeon);
constinit const Codings kNeonCodings = make_codings(kNeon);
constinit const Optimizers kNeonOptimizers = make_optimizers(kNeon);
constinit const Tiles kNeonTiles = make_tiles(kNeon);
constinit const Reductions kNeonFp16Reductions =
    with_extremes_of_halves(make_reductions(kNeonFp16));

}  // namespace rota::kernels::cpu
#endif
