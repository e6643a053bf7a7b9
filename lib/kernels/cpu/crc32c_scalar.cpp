// CRC-32C in portable code: eight bytes at a time, each looked up in a table of its own.
#include <array>

#include "kernels/cpu/crc32c_rows.h"

namespace rota::kernels::cpu {
namespace {

constexpr std::size_t kSlices = 8;
using Slices = std::array<std::array<std::uint32_t, 256>, kSlices>;

// kSlicesOfCrc[n][byte] is the state after `byte` and n zeros, if the state before is 0.
constexpr Slices make_slices() noexcept {
  Slices slices{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t state = byte;
    for (int bit = 0; bit < 8; ++bit) state = times_x(state);
    slices[0][byte] = state;
  }
  for (std::size_t n = 1; n < kSlices; ++n) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = slices[n - 1][byte];
      slices[n][byte] = (before >> 8) ^ slices[0][before & 0xff];
    }
  }
  return slices;
}

constexpr Slices kSlicesOfCrc = make_slices();

// Little-endian, on every machine.
std::uint32_t four_at(const std::byte* bytes) noexcept {
  std::uint32_t four = 0;
  for (int i = 0; i < 4; ++i) four |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * i);
  return four;
}

std::uint32_t extend_scalar(std::uint32_t state, const std::byte* bytes,
                            std::size_t count) noexcept {
  const Slices& slices = kSlicesOfCrc;
  for (; count >= kSlices; bytes += kSlices, count -= kSlices) {
    const std::uint32_t low = state ^ four_at(bytes);
    const std::uint32_t high = four_at(bytes + 4);
    state = slices[7][low & 0xff] ^ slices[6][(low >> 8) & 0xff] ^ slices[5][(low >> 16) & 0xff] ^
            slices[4][low >> 24] ^ slices[3][high & 0xff] ^ slices[2][(high >> 8) & 0xff] ^
            slices[1][(high >> 16) & 0xff] ^ slices[0][high >> 24];
  }
  for (; count > 0; ++bytes, --count) {
    state = (state >> 8) ^ slices[0][(state ^ std::to_integer<std::uint32_t>(*bytes)) & 0xff];
  }
  return state;
}

bool runs_everywhere() noexcept { return true; }

}  // namespace

constinit const Crc32c kScalarCrc32c = {"scalar", runs_everywhere, extend_scalar};

}  // namespace rota::kernels::cpu
