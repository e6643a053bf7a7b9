// Compares the matrix product with its textbook sums.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "nn/buffer.h"
#include "nn/product.h"

namespace rota::nn {
namespace {

// Returns small integers. Every sum of their products is exact in float, so there is one right
// answer.
template <class T>
std::vector<T> integers(std::size_t count, std::size_t seed) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>((i * 37 + seed * 11) % 13) - 6;
  return values;
}

template <class T>
T element(const Matrix<T>& matrix, std::size_t i, std::size_t j) {
  return matrix.data[matrix.column_major ? j * matrix.rows + i : i * matrix.columns + j];
}

// Returns a matrix with values stored row by row or, if `transposed`, column by column.
template <class T>
Matrix<T> stored(const std::vector<T>& values, std::size_t rows, std::size_t columns,
                 bool transposed) {
  if (!transposed) return row_major(values.data(), rows, columns);
  std::swap(rows, columns);
  return row_major(values.data(), rows, columns).transposed();
}

template <class T>
std::vector<T> exact_product(const Matrix<T>& a, const Matrix<T>& b, T begin) {
  std::vector<T> result(a.rows * b.columns, begin);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < b.columns; ++j) {
      for (std::size_t k = 0; k < a.columns; ++k) {
        result[i * b.columns + j] += element(a, i, k) * element(b, k, j);
      }
    }
  }
  return result;
}

template <class T>
class ProductTest : public ::testing::Test {};

using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ProductTest, Types);

// Tests rows, depth and columns below, at and above the block sizes of matrix libraries.
TYPED_TEST(ProductTest, IsExactForEveryShapeAndOrientation) {
  using T = TypeParam;
  constexpr std::size_t kRows[] = {1, 5, 12, 13, 29};
  constexpr std::size_t kDepths[] = {1, 3, 256, 257, 600};
  constexpr std::size_t kColumns[] = {1, 8, 10, 16, 17, 32, 33, 64, 100, 160};
  for (const std::size_t rows : kRows) {
    for (const std::size_t depth : kDepths) {
      for (const std::size_t columns : kColumns) {
        const std::vector<T> left = integers<T>(rows * depth, 1);
        const std::vector<T> right = integers<T>(depth * columns, 2);
        for (const bool left_transposed : {false, true}) {
          for (const bool right_transposed : {false, true}) {
            const Matrix<T> a = stored(left, rows, depth, left_transposed);
            const Matrix<T> b = stored(right, depth, columns, right_transposed);
            std::vector<T> result(rows * columns, T{500});
            multiply(a, b, result.data(), Result::kAdd);
            ASSERT_EQ(result, exact_product(a, b, T{500}))
                << rows << " × " << depth << " × " << columns;
            multiply(a, b, result.data(), Result::kOverwrite);
            ASSERT_EQ(result, exact_product(a, b, T{0}))
                << rows << " × " << depth << " × " << columns;
          }
        }
      }
    }
  }
}

// Training must not depend on the place of a bucket: the product gives the same bits at any cache
// line.
TYPED_TEST(ProductTest, GivesTheSameBitsWhereverTheFactorsLie) {
  using T = TypeParam;
  constexpr std::size_t kRows = 50;
  constexpr std::size_t kDepth = 300;
  constexpr std::size_t kColumns[] = {1, 10, 43, 128};
  constexpr std::size_t kLine = 64 / sizeof(T);
  for (const std::size_t columns : kColumns) {
    Buffer<T> memory;
    memory.reserve(10 * kLine + kRows * kDepth + kDepth * columns);
    const std::vector<T> left = integers<T>(kRows * kDepth, 1);
    const std::vector<T> right = integers<T>(kDepth * columns, 2);
    std::vector<T> first;
    for (std::size_t shift = 0; shift < 5; ++shift) {
      T* a = memory.data() + shift * kLine;
      T* b = a + (kRows * kDepth + kLine - 1) / kLine * kLine + shift * kLine;
      for (std::size_t i = 0; i < left.size(); ++i) a[i] = left[i] / 7;
      for (std::size_t i = 0; i < right.size(); ++i) b[i] = right[i] / 3;
      std::vector<T> result(kRows * columns);
      multiply(row_major<T>(a, kRows, kDepth), row_major<T>(b, kDepth, columns), result.data(),
               Result::kOverwrite);
      if (shift == 0) first = result;
      ASSERT_EQ(result, first) << columns << " columns, shift " << shift;
    }
  }
}

}  // namespace
}  // namespace rota::nn
