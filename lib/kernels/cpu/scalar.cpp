// Has the reference kernels, which compute one element after the other. Every other variant must
// give the same bits.
#define ROTA_TARGET

#include "kernels/one_lane.h"  // Included first: the loops use its lanes.

#include "kernels/cpu/coding_loops.h"
#include "kernels/cpu/optimizer_loops.h"
#include "kernels/cpu/reduction_loops.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/tile_loops.h"

namespace rota::kernels::cpu {
namespace {

bool always() noexcept { return true; }

}  // namespace

constinit const Variant kScalar = {"scalar", always};
constinit const Reductions kScalarReductions = make_reductions(kScalar);
constinit const Codings kScalarCodings = make_codings(kScalar);
constinit const Optimizers kScalarOptimizers = make_optimizers(kScalar);
constinit const Tiles kScalarTiles = make_tiles(kScalar);

}  // namespace rota::kernels::cpu
