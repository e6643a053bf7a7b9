// Input values whose reductions are exact in every type and in every order, and a check of the
// results.
#pragma once
#include <cstddef>

#include "collectives/work.h"

namespace rota::bench {

// The two buffers of a rank. In place both are the same buffer.
struct Buffers {
  std::byte* input = nullptr;
  std::byte* output = nullptr;
};

// Writes the input of `rank`: small integers, whatever the type.
void write_values(const Work& work, std::size_t rank, std::size_t ranks, const Buffers& buffers);

// Returns how many results of this rank differ in any bit from the right result.
std::size_t count_errors(const Work& work, std::size_t rank, std::size_t ranks,
                         const Buffers& buffers);

}  // namespace rota::bench
