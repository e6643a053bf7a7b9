// Adds up the squares of an array in the order of norm_order.h, written once for all instruction
// sets. The compiler makes vectors of these loops, since no loop adds two elements of one vector.
// The including file first defines ROTA_TARGET.
#pragma once
#include <algorithm>
#include <cstddef>

#include "kernels/norm_order.h"

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

// Adds the upper half of the threads' sums to the lower half, until one sum is left.
ROTA_TARGET inline double halved(double* sums) noexcept {
  for (std::size_t half = kNormThreads / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] += sums[half + i];
  }
  return sums[0];
}

template <class T>
ROTA_TARGET double norm_of_block(const T* values, std::size_t count) noexcept {
  constexpr std::size_t kTurn = std::size_t{kNormThreads} * kNormLanes;
  double lanes[kTurn] = {};
  for (std::size_t first = 0; first < count; first += kTurn) {
    const std::size_t turn = std::min(kTurn, count - first);
    for (std::size_t i = 0; i < turn; ++i) {
      const auto value = static_cast<double>(values[first + i]);
      lanes[i] += value * value;
    }
  }
  double sums[kNormThreads];
  for (std::size_t i = 0; i < kNormThreads; ++i) {
    const double* own = lanes + i * kNormLanes;
    sums[i] = own[0] + own[1] + own[2] + own[3];
  }
  return halved(sums);
}

template <class T>
ROTA_TARGET double squared_norm(const T* values, std::size_t count) noexcept {
  double totals[kNormThreads] = {};
  for (std::size_t block = 0; block * kNormBlock < count; ++block) {
    const std::size_t first = block * kNormBlock;
    totals[block % kNormThreads] +=
        norm_of_block(values + first, std::min(kNormBlock, count - first));
  }
  return halved(totals);
}

}  // namespace
}  // namespace rota::kernels::cpu
