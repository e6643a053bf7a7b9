// The matrix product, which takes most of the time: by OpenBLAS, or by Eigen without OpenBLAS.
#pragma once
#include <cstddef>

namespace rota::nn {

// A matrix without gaps: row-major, or column-major after transposed().
template <class T>
struct Matrix {
  const T* data;
  std::size_t rows;
  std::size_t columns;
  bool column_major;

  Matrix transposed() const noexcept { return {data, columns, rows, !column_major}; }
};

template <class T>
Matrix<T> row_major(const T* data, std::size_t rows, std::size_t columns) noexcept {
  return {data, rows, columns, false};
}

enum class Result : bool { kOverwrite, kAdd };

// result = a · b, or result += a · b. The result is row-major, without gaps, and overlaps neither
// factor. The same values give the same bits, wherever they are in memory. rota allocates nothing.
// Any number of threads may multiply; with the serial build of OpenBLAS they wait for one another.
template <class T>
void multiply(const Matrix<T>& a, const Matrix<T>& b, T* result, Result mode) noexcept;

// Makes OpenBLAS use the calling thread only. Some builds of OpenBLAS start a thread for each
// core, but a rank has only a part of the cores.
void use_one_thread() noexcept;

}  // namespace rota::nn
