// What each instruction set has: the rows of the tables of select.cpp.
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

}  // namespace rota::kernels::cpu
