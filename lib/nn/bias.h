// The biases of a layer: one vector that is added to all rows.
#pragma once
#include <algorithm>
#include <cstddef>

namespace rota::nn {

// Sets every row of `matrix` to `row`. Each copy doubles the filled part, so a few long copies are
// enough.
template <class T>
void fill_rows(const T* row, std::size_t columns, T* matrix, std::size_t rows) noexcept {
  std::copy_n(row, rows == 0 ? 0 : columns, matrix);
  for (std::size_t filled = 1; filled < rows;) {
    const std::size_t more = std::min(filled, rows - filled);
    std::copy_n(matrix, more * columns, matrix + filled * columns);
    filled += more;
  }
}

// sums[j] += matrix[0][j] + matrix[1][j] + …, in this order.
template <class T>
void add_rows(const T* matrix, std::size_t rows, T* sums, std::size_t columns) noexcept {
  for (std::size_t i = 0; i < rows; ++i) {
    const T* row = matrix + i * columns;
    for (std::size_t j = 0; j < columns; ++j) sums[j] += row[j];
  }
}

}  // namespace rota::nn
