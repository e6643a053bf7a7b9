// The matrix product, where most of the time goes: OpenBLAS's or, where that is not found, Eigen's.
#pragma once
#include <cstddef>

namespace rota::nn {

// Row-major or, seen transposed, column-major; without gaps.
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

// result = a · b, or result += a · b, which is row-major, without gaps, and overlaps neither.
// The same values give the same bits wherever they lie in memory. Allocates nothing of ours. Any
// number of threads may multiply; where OpenBLAS is its serial flavour, they wait for one another.
template <class T>
void multiply(const Matrix<T>& a, const Matrix<T>& b, T* result, Result mode) noexcept;

// Keeps the library to the calling thread. A program may find a flavour of OpenBLAS that starts a
// thread for each core, while each rank has but its share of them.
void use_one_thread() noexcept;

}  // namespace rota::nn
