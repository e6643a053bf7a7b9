// Declares the kernels of each instruction set. They are the rows of the tables in select.cpp.
#pragma once
#include "kernels/codings.h"
#include "kernels/optimizers.h"
#include "kernels/reductions.h"
#include "kernels/tiles.h"
#include "kernels/variant.h"

namespace rota::kernels::cpu {

extern const Variant kScalar;
extern const Reductions kScalarReductions;
extern const Codings kScalarCodings;
extern const Optimizers kScalarOptimizers;
extern const Tiles kScalarTiles;

#if defined(__x86_64__)
extern const Variant kAvx2;
extern const Reductions kAvx2Reductions;
extern const Codings kAvx2Codings;
extern const Optimizers kAvx2Optimizers;
extern const Tiles kAvx2Tiles;

extern const Variant kAvx512;
extern const Reductions kAvx512Reductions;
extern const Codings kAvx512Codings;
extern const Optimizers kAvx512Optimizers;
extern const Tiles kAvx512Tiles;
#endif

// 32-bit ARM has NEON from ARMv7 on.
#if defined(__aarch64__) || (defined(__arm__) && __ARM_ARCH >= 7)
#define ROTA_HAS_NEON 1
extern const Variant kNeon;
extern const Reductions kNeonReductions;
#endif

#if defined(__aarch64__)
extern const Variant kNeonFp16;
extern const Reductions kNeonFp16Reductions;

extern const Codings kNeonCodings;
extern const Optimizers kNeonOptimizers;
extern const Tiles kNeonTiles;
#endif

}  // namespace rota::kernels::cpu
