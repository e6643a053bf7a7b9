// Has the operations of reductions: what a kernel does to two elements, or to the lanes of two
// registers. Kernels for CPUs and for GPUs have the same source. The including file first defines
// ROTA_TARGET.
#pragma once
#include <limits>

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

// The operations. L is Lanes<T>, which may be a plain number. C++ promotes small integers to int,
// so results are cast back. Integers whose results may overflow are passed as unsigned. The last
// argument is the factor of a mean.
struct Sum {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return static_cast<L>(a + b);
  }
};

template <class Number>
struct Mean {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double factor) noexcept {
    return (a + b) * static_cast<Number>(factor);
  }
};

struct Product {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return static_cast<L>(a * b);
  }
};

struct Min {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return b < a ? b : a;
  }
};

struct Max {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return a < b ? b : a;
  }
};

struct BitAnd {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return static_cast<L>(a & b);
  }
};

struct BitOr {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return static_cast<L>(a | b);
  }
};

struct BitXor {
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    return static_cast<L>(a ^ b);
  }
};

// Min and Max of floating-point numbers compare the bits as signed integers. Once the magnitude
// bits of negative numbers are inverted, the integers have the order of the numbers, with -0 before
// +0. The magnitude bits of a NaN are above those of infinity. A comparison of numbers would be
// false for NaN, would treat -0 and +0 as equal, and would need conversions of 16-bit floats.
template <auto kInfinity, class Extreme>
struct ByBits {
  static constexpr auto kMagnitude = std::numeric_limits<decltype(kInfinity)>::max();

  template <class L>
  ROTA_TARGET static L turned(L bits) noexcept {  // This function is its own inverse.
    return static_cast<L>(bits < L{} ? bits ^ kMagnitude : bits);
  }
  template <class L>
  ROTA_TARGET static L of(L a, L b, double) noexcept {
    const L extreme = turned(Extreme::of(turned(a), turned(b), 1));
    const L a_or_extreme = static_cast<L>(a & kMagnitude) > kInfinity ? a : extreme;
    return static_cast<L>(b & kMagnitude) > kInfinity ? b : a_or_extreme;
  }
};

}  // namespace
}  // namespace rota::kernels::cpu
