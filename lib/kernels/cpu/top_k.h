// Encodes and decodes the largest elements of a block, in portable code: most of the time is spent
// in std::nth_element.
#pragma once
#include <array>
#include <cstddef>

#include "kernels/codings.h"

namespace rota::kernels::cpu {

// Writes the positions of the kept elements in ascending order, then the elements. Of elements with
// equal magnitudes, keeps those at the lowest positions. NaN has the largest magnitude. Requires 0
// < count <= kTopKBlock.
void encode_top_k(std::byte* coded, const std::byte* values, std::size_t count) noexcept;

// Writes the kept values, and zeros elsewhere. Ignores a position that is outside of the block.
void decode_top_k(std::array<float, kTopKBlock>& values, const std::byte* coded,
                  std::size_t count) noexcept;

}  // namespace rota::kernels::cpu
