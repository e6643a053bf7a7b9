// Values whose reductions are exact in every type and in every order, and what a collective has to
// leave of them.
#pragma once
#include <cstddef>

#include "collectives/work.h"

namespace rota::bench {

// A rank's two buffers; one and the same in place.
struct Buffers {
  std::byte* input = nullptr;
  std::byte* output = nullptr;
};

// Writes what `rank` gives: small integers, whatever the type.
void write_values(const Work& work, std::size_t rank, std::size_t ranks, const Buffers& buffers);

// How many of this rank's results are not what they have to be, bit by bit.
std::size_t count_errors(const Work& work, std::size_t rank, std::size_t ranks,
                         const Buffers& buffers);

}  // namespace rota::bench
