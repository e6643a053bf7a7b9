// The matrices of Winograd's convolution, after Toom and Cook: a polynomial of few coefficients is
// known by its values at eight points, and there products are made value by value.
#pragma once
#include <array>
#include <cstddef>

namespace rota::kernels::cpu {

inline constexpr std::size_t kPoints = 8;

// The last one is infinity. Of the others, each but 0 stands beside its negative: what both have in
// common is computed once.
inline constexpr std::size_t kFinite = kPoints - 1;
inline constexpr std::array<double, kFinite> kPlaces = {0, 1, -1, 2, -2, 0.5, -0.5};

template <std::size_t kSide>
using Basis = std::array<std::array<double, kSide>, kPoints>;

// The value, at each point, of a polynomial with kSide coefficients.
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

// The same, divided by the product of the point's distances from the others.
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

// The coefficients of the polynomial that is zero at all other finite points.
constexpr Basis<kPoints> coefficients_by_point() noexcept {
  Basis<kPoints> basis{};
  for (std::size_t point = 0; point < kPoints; ++point) {
    std::array<double, kPoints>& polynomial = basis[point];
    polynomial[0] = 1;
    for (std::size_t other = 0; other < kFinite; ++other) {
      if (other == point) continue;
      for (std::size_t power = kPoints; power-- > 0;) {                // Times (x - place).
        polynomial[power] = (power > 0 ? polynomial[power - 1] : 0) -  //
                            polynomial[power] * kPlaces[other];
      }
    }
  }
  return basis;
}

}  // namespace rota::kernels::cpu
