// What a checkpoint knows about a tensor: its name, its type and its shape, but not its elements.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rota/values.h>

namespace rota::checkpoint {

struct TensorInfo {
  std::string name;  // As in the state of the training: "model/0.dense.weights".
  DataType type = DataType::kFloat32;
  std::vector<std::size_t> shape;  // Row-major. Empty: one element.
  friend bool operator==(const TensorInfo&, const TensorInfo&) = default;
};

// Consecutive rows of a tensor. A row is all elements with the same first index. A tensor without
// dimensions is one row.
struct Rows {
  std::size_t first = 0;
  std::size_t count = 0;
  friend bool operator==(const Rows&, const Rows&) = default;
};

// Returns the size of all elements in bytes, or nothing if this machine cannot count so far.
std::optional<std::size_t> checked_bytes_of(DataType type, std::span<const std::size_t> shape);

// Returns this size for a tensor whose size is known to fit.
std::size_t bytes_of(const TensorInfo& tensor);

Rows all_rows_of(const TensorInfo& tensor);

// Returns the size of `rows` in bytes. Requires that the tensor has these rows.
std::size_t bytes_of(const TensorInfo& tensor, const Rows& rows);

}  // namespace rota::checkpoint
