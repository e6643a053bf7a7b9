// Declares the kernels that need half-precision arithmetic. neon.cpp makes the row of "neon-fp16"
// of these and of its own, so no kernel is compiled twice.
#pragma once
#include <cstddef>

namespace rota::kernels::cpu {

// These combine float16, as Combine and CombineToBoth of reductions.h do.
void min_of_halves(std::byte* accumulator, const std::byte* input, std::size_t count,
                   double factor) noexcept;
void max_of_halves(std::byte* accumulator, const std::byte* input, std::size_t count,
                   double factor) noexcept;
void min_of_halves_to_both(std::byte* to, std::byte* also_to, const std::byte* a,
                           const std::byte* b, std::size_t count, double factor) noexcept;
void max_of_halves_to_both(std::byte* to, std::byte* also_to, const std::byte* a,
                           const std::byte* b, std::size_t count, double factor) noexcept;

}  // namespace rota::kernels::cpu
