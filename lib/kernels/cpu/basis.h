// Computes the matrices of Winograd's convolution, after Toom and Cook. A polynomial with at most
// eight coefficients is determined by its values at eight points. At each point, the value of a
// product of polynomials is the product of the polynomials' values.
#pragma once
#include <array>
#include <cstddef>

namespace rota::kernels::cpu {

inline constexpr std::size_t kPoints = 8;

// The last point is infinity. Each finite point except 0 is next to its negative, so that the terms
// that both points have in common are computed once.
inline constexpr std::size_t kFinite = kPoints - 1;
inline constexpr std::array<double, kFinite> kPlaces = {0, 1, -1, 2, -2, 0.5, -0.5};

template <std::size_t kSide>
using Basis = std::array<std::array<double, kSide>, kPoints>;

// Returns, for each point, the factors that turn the kSide coefficients of a polynomial into the
// polynomial's value at this point.
template <std::size_t kSide>
constexpr Basis<kSide> values_at_points() noexcept {
  Basis<kSide> basis{};
  for (std::size_t point = 0; point < kFinite; ++point) {
    double power = 1;
    for (double& element : basis[point]) {
      element = power;
      power *= kPlaces[point];
    }
  }
  basis[kFinite][kSide - 1] = 1;
  return basis;
}

// Returns values_at_points(), with the row of each finite point divided by a product. The product
// is that of the differences between this point and each other finite point.
template <std::size_t kSide>
constexpr Basis<kSide> weighted_values_at_points() noexcept {
  Basis<kSide> basis = values_at_points<kSide>();
  for (std::size_t point = 0; point < kFinite; ++point) {
    double distances = 1;
    for (std::size_t other = 0; other < kFinite; ++other) {
      if (other != point) distances *= kPlaces[point] - kPlaces[other];
    }
    for (double& element : basis[point]) element /= distances;
  }
  return basis;
}

// Returns, for each point, the coefficients of the polynomial that is zero at all other finite
// points.
constexpr Basis<kPoints> coefficients_by_point() noexcept {
  Basis<kPoints> basis{};
  for (std::size_t point = 0; point < kPoints; ++point) {
    std::array<double, kPoints>& polynomial = basis[point];
    polynomial[0] = 1;
    for (std::size_t other = 0; other < kFinite; ++other) {
      if (other == point) continue;
      for (std::size_t power = kPoints; power-- > 0;) {                // Multiplies by (x - place).
        polynomial[power] = (power > 0 ? polynomial[power - 1] : 0) -  //
                            polynomial[power] * kPlaces[other];
      }
    }
  }
  return basis;
}

}  // namespace rota::kernels::cpu
