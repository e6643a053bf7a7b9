// Makes a register of one number, for the kernels that compute one element after the other: those
// of "scalar", and those for GPUs. The including file first defines ROTA_TARGET.
#pragma once
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/half_numbers.h"

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

template <class T>
using Lanes = T;

inline constexpr std::size_t kTurnRegisters = 1;

template <class T, class From>
ROTA_TARGET T converted(From number) noexcept {
  return static_cast<T>(number);
}

using StoredBytes = std::int8_t;

ROTA_TARGET inline float widen_bytes(std::int8_t byte) noexcept { return byte; }
ROTA_TARGET inline std::int8_t last_bytes(float number) noexcept {
  return static_cast<std::int8_t>(std::bit_cast<std::uint32_t>(number));
}

template <class T>
ROTA_TARGET T square_root(T number) noexcept {
  return std::sqrt(number);
}

}  // namespace
}  // namespace rota::kernels::cpu
