// The reference: one element after the other. It decides what every other variant must give.
#include <bit>
#include <cstring>

#include <rota/float16.h>

#define ROTA_TARGET

namespace rota::kernels::cpu {
namespace {

template <class T>
using Lanes = T;

template <class T, class From>
T converted(From number) noexcept {
  return static_cast<T>(number);
}

using StoredBytes = std::int8_t;

float widen_bytes(std::int8_t byte) noexcept { return byte; }
std::int8_t last_bytes(float number) noexcept {
  return static_cast<std::int8_t>(std::bit_cast<std::uint32_t>(number));
}

template <class Half>
struct HalfLanes {
  using Number = float;
  static constexpr std::size_t kCount = 1;
  static constexpr std::size_t kElementBytes = sizeof(Half);

  static float load(const std::byte* from) noexcept {
    Half half;
    std::memcpy(&half, from, sizeof(half));
    return static_cast<float>(half);
  }
  static void store(std::byte* to, float value) noexcept {
    const Half half(value);
    std::memcpy(to, &half, sizeof(half));
  }
};
using Float16Lanes = HalfLanes<Float16>;
using Bfloat16Lanes = HalfLanes<Bfloat16>;

}  // namespace
}  // namespace rota::kernels::cpu

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
