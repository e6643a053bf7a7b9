// CRC-32C with an instruction that takes eight bytes. The instruction needs several cycles, but the
// next one may start before it ends. So three instructions run at once, each in a third of a block.
//
// Before it includes this header, a file defines ROTA_TARGET, and in rota::kernels::cpu the
// functions extend_by_8 (the state after eight bytes) and extend_by_1 (the state after one byte).
#pragma once
#include <array>
#include <cstring>

#include "kernels/cpu/crc32c_rows.h"

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

constexpr std::uint32_t product(std::uint32_t a, std::uint32_t b) noexcept {
  std::uint32_t sum = 0;
  for (std::uint32_t bit = std::uint32_t{1} << 31; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) sum ^= b;
    b = times_x(b);
  }
  return sum;
}

// Returns x^(8 · bytes), modulo the polynomial. The product of a state and this power is the state
// after so many zeros.
constexpr std::uint32_t power_of_x(std::size_t bytes) noexcept {
  std::uint32_t power = std::uint32_t{1} << 31;   // x^0
  std::uint32_t square = std::uint32_t{1} << 23;  // x^8
  for (; bytes != 0; bytes >>= 1) {
    if ((bytes & 1) != 0) power = product(power, square);
    square = product(square, square);
  }
  return power;
}

// Returns the state after kBytes zeros, found by four look-ups.
template <std::size_t kBytes>
struct Zeros {
  static constexpr std::array<std::array<std::uint32_t, 256>, 4> make() noexcept {
    std::array<std::array<std::uint32_t, 256>, 4> table{};
    constexpr std::uint32_t kPower = power_of_x(kBytes);
    for (std::uint32_t place = 0; place < 4; ++place) {
      for (std::uint32_t byte = 0; byte < 256; ++byte) {
        table[place][byte] = product(kPower, byte << (8 * place));
      }
    }
    return table;
  }
  static constexpr std::array<std::array<std::uint32_t, 256>, 4> kTable = make();

  static std::uint32_t after(std::uint32_t state) noexcept {
    return kTable[0][state & 0xff] ^ kTable[1][(state >> 8) & 0xff] ^
           kTable[2][(state >> 16) & 0xff] ^ kTable[3][state >> 24];
  }
};

ROTA_TARGET inline std::uint64_t eight_at(const std::byte* bytes) noexcept {
  std::uint64_t eight = 0;
  std::memcpy(&eight, bytes, sizeof(eight));
  return eight;
}

// Takes as many blocks of three streams as there are.
template <std::size_t kStream>
ROTA_TARGET inline std::uint32_t extend_by_blocks(std::uint32_t state, const std::byte*& bytes,
                                                  std::size_t& count) noexcept {
  for (; count >= 3 * kStream; bytes += 3 * kStream, count -= 3 * kStream) {
    std::uint64_t first = state;
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t at = 0; at < kStream; at += 8) {
      first = extend_by_8(first, eight_at(bytes + at));
      second = extend_by_8(second, eight_at(bytes + at + kStream));
      third = extend_by_8(third, eight_at(bytes + at + 2 * kStream));
    }
    const std::uint32_t two = Zeros<kStream>::after(static_cast<std::uint32_t>(first)) ^
                              static_cast<std::uint32_t>(second);
    state = Zeros<kStream>::after(two) ^ static_cast<std::uint32_t>(third);
  }
  return state;
}

// Long streams first: they need fewer look-ups. Short streams take the most of what is left.
ROTA_TARGET inline std::uint32_t extend_by_streams(std::uint32_t state, const std::byte* bytes,
                                                   std::size_t count) noexcept {
  state = extend_by_blocks<8192>(state, bytes, count);
  state = extend_by_blocks<256>(state, bytes, count);
  std::uint64_t rest = state;
  for (; count >= 8; bytes += 8, count -= 8) rest = extend_by_8(rest, eight_at(bytes));
  state = static_cast<std::uint32_t>(rest);
  for (; count > 0; ++bytes, --count) state = extend_by_1(state, *bytes);
  return state;
}

}  // namespace
}  // namespace rota::kernels::cpu
