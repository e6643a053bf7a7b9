// What a codec makes of an all-reduce, beside the exact results.
#pragma once
#include <cstddef>
#include <cstdint>

#include "collectives/numbers.h"
#include "collectives/work.h"

namespace rota::bench {

struct Loss {
  double relative_error = 0;  // Root mean square, in that of the exact results.
  std::uint32_t digest = 0;   // Of all bits.
};

// Writes floats as gradients are spread: around zero, few of them large.
void write_floats(const Work& work, std::size_t rank, const Buffers& buffers);

// Of this rank's results, of what write_floats wrote on all. Of sums and means.
Loss loss_of(const Work& work, std::size_t ranks, const Buffers& buffers);

}  // namespace rota::bench
