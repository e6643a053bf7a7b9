// Compares the results of a coded all-reduce with the exact results.
#pragma once
#include <cstddef>
#include <cstdint>

#include "collectives/numbers.h"
#include "collectives/work.h"

namespace rota::bench {

struct Loss {
  double relative_error = 0;  // RMS of the error / RMS of the exact results.
  std::uint32_t digest = 0;   // Hash of all bits of the results.
};

// Writes floats that are distributed like gradients: around zero, few of them large.
void write_floats(const Work& work, std::size_t rank, const Buffers& buffers);

// Returns the loss of this rank's results, if write_floats wrote the inputs of all ranks. The
// operation must be a sum or a mean.
Loss loss_of(const Work& work, std::size_t ranks, const Buffers& buffers);

}  // namespace rota::bench
