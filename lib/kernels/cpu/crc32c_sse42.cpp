// CRC-32C with the instruction of SSE 4.2.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#define ROTA_TARGET __attribute__((target("sse4.2")))

namespace rota::kernels::cpu {
namespace {

ROTA_TARGET inline std::uint64_t extend_by_8(std::uint64_t state, std::uint64_t eight) noexcept {
  return _mm_crc32_u64(state, eight);
}

ROTA_TARGET inline std::uint32_t extend_by_1(std::uint32_t state, std::byte byte) noexcept {
  return _mm_crc32_u8(state, std::to_integer<unsigned char>(byte));
}

}  // namespace
}  // namespace rota::kernels::cpu

#include "kernels/cpu/crc32c_streams.h"

namespace rota::kernels::cpu {
namespace {

bool has_sse42() noexcept { return __builtin_cpu_supports("sse4.2") != 0; }

}  // namespace

constinit const Crc32c kSse42Crc32c = {"sse4.2", has_sse42, extend_by_streams};

}  // namespace rota::kernels::cpu
#endif
