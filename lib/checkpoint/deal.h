// Decides which rank writes which tensors, so that all ranks write about the same number of bytes.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "checkpoint/tensor.h"

namespace rota::checkpoint {

// A tensor above this size is cut into runs of rows for several ranks.
inline constexpr std::size_t kMostUncutBytes = std::size_t{64} << 20;

struct DealtRows {
  std::size_t tensor = 0;  // The index in the dealt tensors.
  Rows rows;
  friend bool operator==(const DealtRows&, const DealtRows&) = default;
};

// The rows that each of `ranks` ranks writes, in the order of the tensors. Each row of each tensor
// is dealt once, and a rank has at most one run of rows of a tensor. A pure function: all ranks
// compute the same deal. Requires ranks > 0.
std::vector<std::vector<DealtRows>> deal(std::span<const TensorInfo> tensors, std::size_t ranks);

}  // namespace rota::checkpoint
