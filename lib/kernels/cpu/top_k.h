// The largest of a block, in portable code: what takes the time here is to find them.
#pragma once
#include <array>
#include <cstddef>

#include "kernels/codings.h"

namespace rota::kernels::cpu {

// How many of so many are kept.
constexpr std::size_t top_k_of(std::size_t count) noexcept {
  return (count + kTopKShare - 1) / kTopKShare;
}

// Places, in order, and behind them values. Of equal magnitudes the first are kept. NaN is the
// largest. Requires 0 < count <= kTopKBlock.
void encode_top_k(std::byte* coded, const std::byte* values, std::size_t count) noexcept;

// Zeros but for what was kept. A place that the block does not have is passed over.
void decode_top_k(std::array<float, kTopKBlock>& values, const std::byte* coded,
                  std::size_t count) noexcept;

}  // namespace rota::kernels::cpu
