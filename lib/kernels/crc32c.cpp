// The table of ways to compute CRC-32C, and the choice of one of them.
#include "kernels/crc32c.h"

#include "kernels/cpu/crc32c_rows.h"

namespace rota::kernels {
namespace {

constexpr const Crc32c* kCrc32c[] = {
#if defined(__x86_64__)
    &cpu::kSse42Crc32c,
#endif
#if defined(__aarch64__)
    &cpu::kArmCrc32c,
#endif
    &cpu::kScalarCrc32c,
};

const Crc32c& best_crc32c() noexcept {
  for (const Crc32c* row : kCrc32c) {
    if (row->supported()) return *row;
  }
  return cpu::kScalarCrc32c;
}

}  // namespace

std::span<const Crc32c* const> Crc32c::table() noexcept { return kCrc32c; }

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc) noexcept {
  static const Crc32c& best = best_crc32c();
  return ~best.extend(~crc, bytes.data(), bytes.size());
}

}  // namespace rota::kernels
