// The random numbers of models and of training: which purposes have which numbers.
#pragma once
#include <cstdint>

#include "kernels/philox.h"

namespace rota::nn {

using kernels::philox;
using kernels::RandomBlock;

// If the key is the user's seed, the last word of the counter is one of these. So each purpose has
// random numbers of its own.
constexpr std::uint32_t kInitializerStream = 0;
constexpr std::uint32_t kDropoutStream = 1;

constexpr std::uint64_t join(std::uint32_t low, std::uint32_t high) noexcept {
  return low | (std::uint64_t{high} << 32);
}

}  // namespace rota::nn
