// A variant of the kernels (kernels/variant.h) for an instruction set of its own. It has only the
// transforms of tiles (kernels/tiles.h): a variant need not have every kind of kernel.
#pragma once
#include "kernels/tiles.h"

namespace rota::kernels::testing {

extern const Variant kToy;
extern const Tiles kToyTiles;

}  // namespace rota::kernels::testing
