// CRC-32C with the instructions of 64-bit ARM, which all Raspberry Pis from the third have.
#if defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>

#include <cstddef>
#include <cstdint>

#define ROTA_TARGET __attribute__((target("+crc")))

namespace rota::kernels::cpu {
namespace {

ROTA_TARGET inline std::uint64_t extend_by_8(std::uint64_t state, std::uint64_t eight) noexcept {
  return __crc32cd(static_cast<std::uint32_t>(state), eight);
}

ROTA_TARGET inline std::uint32_t extend_by_1(std::uint32_t state, std::byte byte) noexcept {
  return __crc32cb(state, std::to_integer<std::uint8_t>(byte));
}

}  // namespace
}  // namespace rota::kernels::cpu

#include "kernels/cpu/crc32c_streams.h"

namespace rota::kernels::cpu {
namespace {

// HWCAP_CRC32 is bit 7.
bool has_crc32() noexcept { return (::getauxval(AT_HWCAP) & 1UL << 7) != 0; }

}  // namespace

constinit const Crc32c kArmCrc32c = {"armv8", has_crc32, extend_by_streams};

}  // namespace rota::kernels::cpu
#endif
