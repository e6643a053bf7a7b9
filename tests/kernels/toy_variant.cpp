// Vectors of 16 bytes, compiled for the instructions that the whole build uses. Tiles need only
// vector lanes, so the file defines nothing for 16-bit floats or bytes.
#include "kernels/toy_variant.h"

#define ROTA_TARGET

namespace rota::kernels::cpu {
namespace {

constexpr std::size_t kVectorBytes = 16;
constexpr std::size_t kTurnRegisters = 1;

}  // namespace
}  // namespace rota::kernels::cpu

#include "kernels/cpu/vectors.h"  // Comes first: the loops use its lanes.

#include "kernels/cpu/tile_loops.h"

namespace rota::kernels::testing {
namespace {

bool always() noexcept { return true; }

}  // namespace

constinit const Variant kToy = {"toy", always};
constinit const Tiles kToyTiles = cpu::make_tiles(kToy);

}  // namespace rota::kernels::testing
