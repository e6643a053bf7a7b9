// A variant that has tiles and no other kernels, as a new instruction set may.
#pragma once
#include "kernels/tiles.h"

namespace rota::kernels::testing {

extern const Variant kToy;
extern const Tiles kToyTiles;

}  // namespace rota::kernels::testing
