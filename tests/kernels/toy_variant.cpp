// Vectors of 16 bytes, of which the compiler makes what the machine has. Tiles ask for no more than
// lanes, so nothing is said of 16-bit floats, nor of bytes.
#include "kernels/toy_variant.h"

#define ROTA_TARGET

namespace rota::kernels::cpu {
namespace {

constexpr std::size_t kVectorBytes = 16;

}  // namespace
}  // namespace rota::kernels::cpu

#include "kernels/cpu/vectors.h"  // First: the loops take its lanes.

#include "kernels/cpu/tile_loops.h"

namespace rota::kernels::testing {
namespace {

bool always() noexcept { return true; }

}  // namespace

constinit const Variant kToy = {"toy", always};
constinit const Tiles kToyTiles = cpu::make_tiles(kToy);

}  // namespace rota::kernels::testing
