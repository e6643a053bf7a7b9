// Computes the sizes of tensors and of their rows.
#include "checkpoint/tensor.h"

#include <algorithm>

#include "base/assert.h"

namespace rota::checkpoint {

std::optional<std::size_t> checked_bytes_of(DataType type, std::span<const std::size_t> shape) {
  if (std::ranges::find(shape, std::size_t{0}) != shape.end()) return 0;
  std::size_t bytes = rota::bytes_of(type);
  for (const std::size_t side : shape) {
    if (__builtin_mul_overflow(bytes, side, &bytes)) return std::nullopt;
  }
  return bytes;
}

std::size_t bytes_of(const TensorInfo& tensor) {
  const auto bytes = checked_bytes_of(tensor.type, tensor.shape);
  ROTA_ASSERT(bytes);
  return *bytes;
}

Rows all_rows_of(const TensorInfo& tensor) {
  return {.first = 0, .count = tensor.shape.empty() ? 1 : tensor.shape.front()};
}

std::size_t bytes_of(const TensorInfo& tensor, const Rows& rows) {
  const std::size_t all = all_rows_of(tensor).count;
  ROTA_ASSERT(rows.first <= all && rows.count <= all - rows.first);
  return all == 0 ? 0 : bytes_of(tensor) / all * rows.count;
}

}  // namespace rota::checkpoint
