// Random numbers by position: a pure function of a key and a counter. So any rank can compute any
// of these numbers without the others, in any order. CPUs and GPUs have the same source: nvcc
// compiles constexpr functions for GPUs too.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace rota::kernels {

using RandomBlock = std::array<std::uint32_t, 4>;

// Philox4x32-10, from Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011: ten rounds of multiplication in the structure of a block cipher.
constexpr RandomBlock philox(std::uint64_t key, RandomBlock counter) noexcept {
  auto key_low = static_cast<std::uint32_t>(key);
  auto key_high = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key_low, static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key_high, static_cast<std::uint32_t>(a)};
    key_low += 0x9E3779B9;
    key_high += 0xBB67AE85;
  }
  return counter;
}

}  // namespace rota::kernels
