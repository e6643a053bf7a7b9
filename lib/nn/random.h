// Random numbers by position: a pure function of a key and a counter, so that any of them can be
// had alone, in any order, on any rank.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace rota::nn {

using RandomBlock = std::array<std::uint32_t, 4>;

// Philox4x32-10, from Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011: a block cipher's skeleton with ten rounds of multiplication.
inline RandomBlock philox(std::uint64_t key, RandomBlock counter) noexcept {
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

// The last word of a counter under the user's seed: no two purposes share random numbers.
constexpr std::uint32_t kInitializerStream = 0;
constexpr std::uint32_t kDropoutStream = 1;

constexpr std::uint64_t join(std::uint32_t low, std::uint32_t high) noexcept {
  return low | (std::uint64_t{high} << 32);
}

}  // namespace rota::nn
