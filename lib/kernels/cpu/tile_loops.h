// Has the loops of tiles.h, written once for all instruction sets. The including file first defines
// what lanes.h needs.
#pragma once
#include "kernels/cpu/basis.h"
#include "kernels/lanes.h"
#include "kernels/tiles.h"

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

// Loops over a basis (see basis.h) are unrolled too: the compiler then knows the factors, and many
// factors are 0 or 1.

// Returns values[first] * factors[first] + values[first + 2] * factors[first + 2] + …, without the
// terms with factor 0.
template <class T, std::size_t kSide, class L>
ROTA_TARGET ROTA_INLINE L sum_of_every_second(const std::array<double, kSide>& factors,
                                              std::size_t first, const L* values) noexcept {
  L sum{};
  ROTA_UNROLL for (std::size_t i = first; i < kSide; i += 2) {
    if (factors[i] != 0) sum += values[i] * static_cast<T>(factors[i]);
  }
  return sum;
}

// The values at a point and at its negative differ in the sign of the odd powers only.
template <class T, class Shape, class L>
ROTA_TARGET ROTA_INLINE void expand_line(const L* from, L* to) noexcept {
  constexpr auto kBasis = Shape::kBasis;
  to[0] = sum_of_every_second<T>(kBasis[0], 0, from);
  ROTA_UNROLL for (std::size_t point = 1; point < kFinite; point += 2) {
    const L even = sum_of_every_second<T>(kBasis[point], 0, from);
    const L odd = sum_of_every_second<T>(kBasis[point], 1, from);
    to[point] = even + odd;
    to[point + 1] = even - odd;
  }
  to[kFinite] = sum_of_every_second<T>(kBasis[kFinite], 0, from) +
                sum_of_every_second<T>(kBasis[kFinite], 1, from);
}

template <class T, class Shape, class L>
ROTA_TARGET ROTA_INLINE void contract_line(const L* from, L* to) noexcept {
  constexpr auto kBasis = Shape::kBasis;
  constexpr std::size_t kSide = kBasis[0].size();
  L of_pair[2][kPoints];  // [0]: point plus its negative, for even powers; [1]: their difference.
  ROTA_UNROLL for (std::size_t point = 1; point < kFinite; point += 2) {
    of_pair[0][point] = from[point] + from[point + 1];
    of_pair[1][point] = from[point] - from[point + 1];
  }
  ROTA_UNROLL for (std::size_t i = 0; i < kSide; ++i) {
    L sum{};
    if (kBasis[0][i] != 0) sum += from[0] * static_cast<T>(kBasis[0][i]);
    ROTA_UNROLL for (std::size_t point = 1; point < kFinite; point += 2) {
      if (kBasis[point][i] != 0) sum += of_pair[i % 2][point] * static_cast<T>(kBasis[point][i]);
    }
    if (kBasis[kFinite][i] != 0) sum += from[kFinite] * static_cast<T>(kBasis[kFinite][i]);
    to[i] = sum;
  }
}

// Loads as many elements as there are lanes (kWhole), or `count` elements.
template <class T, bool kWhole>
ROTA_TARGET ROTA_INLINE Lanes<T> load_lanes(const T* from, std::size_t count) noexcept {
  const auto* bytes = reinterpret_cast<const std::byte*>(from);
  if constexpr (kWhole) return Same<T>::load(bytes);
  return load_some<Same<T>>(bytes, count);
}

template <class T, bool kWhole>
ROTA_TARGET ROTA_INLINE void store_lanes(T* to, Lanes<T> lanes, std::size_t count) noexcept {
  auto* bytes = reinterpret_cast<std::byte*>(to);
  if constexpr (kWhole) return Same<T>::store(bytes, lanes);
  store_some<Same<T>>(bytes, lanes, count);
}

template <class T, class Shape, bool kWhole>
ROTA_TARGET void expand_lanes(const T* from, TileSteps from_steps, T* to, TileSteps to_steps,
                              std::size_t count) noexcept {
  constexpr std::size_t kSide = Shape::kBasis[0].size();
  Lanes<T> lines[kSide][kPoints];
  for (std::size_t row = 0; row < kSide; ++row) {
    Lanes<T> line[kSide];
    ROTA_UNROLL for (std::size_t i = 0; i < kSide; ++i) {
      line[i] = load_lanes<T, kWhole>(from + row * from_steps.row + i * from_steps.column, count);
    }
    expand_line<T, Shape>(line, lines[row]);
  }
  for (std::size_t column = 0; column < kPoints; ++column) {
    Lanes<T> line[kSide];
    Lanes<T> points[kPoints];
    ROTA_UNROLL for (std::size_t i = 0; i < kSide; ++i) line[i] = lines[i][column];
    expand_line<T, Shape>(line, points);
    ROTA_UNROLL for (std::size_t i = 0; i < kPoints; ++i) {
      store_lanes<T, kWhole>(to + i * to_steps.row + column * to_steps.column, points[i], count);
    }
  }
}

template <class T, class Shape, bool kWhole>
ROTA_TARGET void contract_lanes(const T* from, TileSteps from_steps, T* to, TileSteps to_steps,
                                std::size_t count) noexcept {
  constexpr std::size_t kSide = Shape::kBasis[0].size();
  Lanes<T> lines[kPoints][kSide];
  for (std::size_t row = 0; row < kPoints; ++row) {
    Lanes<T> line[kPoints];
    ROTA_UNROLL for (std::size_t i = 0; i < kPoints; ++i) {
      line[i] = load_lanes<T, kWhole>(from + row * from_steps.row + i * from_steps.column, count);
    }
    contract_line<T, Shape>(line, lines[row]);
  }
  for (std::size_t column = 0; column < kSide; ++column) {
    Lanes<T> line[kPoints];
    Lanes<T> sums[kSide];
    ROTA_UNROLL for (std::size_t i = 0; i < kPoints; ++i) line[i] = lines[i][column];
    contract_line<T, Shape>(line, sums);
    ROTA_UNROLL for (std::size_t i = 0; i < kSide; ++i) {
      T* sum = to + i * to_steps.row + column * to_steps.column;
      store_lanes<T, kWhole>(sum, load_lanes<T, kWhole>(sum, count) + sums[i], count);
    }
  }
}

template <class T, class Shape>
ROTA_TARGET void expand(const T* from, TileSteps from_steps, T* to, TileSteps to_steps,
                        std::size_t count) noexcept {
  std::size_t first = 0;
  for (; count - first >= Same<T>::kCount; first += Same<T>::kCount) {
    expand_lanes<T, Shape, true>(from + first, from_steps, to + first, to_steps, 0);
  }
  if (first == count) return;
  expand_lanes<T, Shape, false>(from + first, from_steps, to + first, to_steps, count - first);
}

template <class T, class Shape>
ROTA_TARGET void contract(const T* from, TileSteps from_steps, T* to, TileSteps to_steps,
                          std::size_t count) noexcept {
  std::size_t first = 0;
  for (; count - first >= Same<T>::kCount; first += Same<T>::kCount) {
    contract_lanes<T, Shape, true>(from + first, from_steps, to + first, to_steps, 0);
  }
  if (first == count) return;
  contract_lanes<T, Shape, false>(from + first, from_steps, to + first, to_steps, count - first);
}

struct Inputs {
  static constexpr Basis<kPoints> kBasis = coefficients_by_point();
};
template <std::size_t kWindow>
struct Weights {
  static constexpr Basis<kWindow> kBasis = weighted_values_at_points<kWindow>();
};
template <std::size_t kWindow>
struct Outputs {
  static constexpr Basis<kPoints + 1 - kWindow> kBasis = values_at_points<kPoints + 1 - kWindow>();
};

template <class T, class Shape>
constexpr TileTransform<T> kTransform = {expand<T, Shape>, contract<T, Shape>};

template <class T, std::size_t kWindow>
constexpr TileTransforms<T> kTransforms = {kTransform<T, Inputs>, kTransform<T, Weights<kWindow>>,
                                           kTransform<T, Outputs<kWindow>>};

template <class T>
constexpr TypeTiles<T> kTypeTiles = {kTransforms<T, 3>, kTransforms<T, 5>};

constexpr Tiles make_tiles(const Variant& variant) noexcept {
  return {&variant, kTypeTiles<float>, kTypeTiles<double>};
}

}  // namespace
}  // namespace rota::kernels::cpu
