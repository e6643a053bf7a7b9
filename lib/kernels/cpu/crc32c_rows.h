// The rows of the table in crc32c.cpp, and the arithmetic that they share. A polynomial over bits
// is an integer, as in the checksum: the highest bit is the coefficient of x^0.
#pragma once
#include <cstdint>

#include "kernels/crc32c.h"

namespace rota::kernels::cpu {

extern const Crc32c kScalarCrc32c;

#if defined(__x86_64__)
extern const Crc32c kSse42Crc32c;
#endif
#if defined(__aarch64__)
extern const Crc32c kArmCrc32c;
#endif

inline constexpr std::uint32_t kCastagnoli = 0x82f6'3b78;

// Returns the product of `polynomial` and x, modulo Castagnoli's polynomial.
constexpr std::uint32_t times_x(std::uint32_t polynomial) noexcept {
  return (polynomial >> 1) ^ ((polynomial & 1) != 0 ? kCastagnoli : 0);
}

}  // namespace rota::kernels::cpu
