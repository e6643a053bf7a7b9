// A cuBLAS for tests: libcublas.so.13 with the functions that rota calls, on the host. It notes
// what it was told.
#include "cuda/fake_cublas.h"

#include <cstddef>

namespace {

FakeCublas noted;

float element(const float* matrix, int step, bool is_transposed, int row, int column) {
  return is_transposed ? matrix[row * step + column] : matrix[column * step + row];
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the library's names.
extern "C" {

FakeCublas* fake_cublas_notes() { return &noted; }

int cublasCreate_v2(void** handle) {
  if (noted.create_status == 0) *handle = &noted;
  noted.handles += noted.create_status == 0 ? 1 : 0;
  return noted.create_status;
}

int cublasDestroy_v2(void*) {
  --noted.handles;
  return 0;
}

int cublasSetStream_v2(void*, void* stream) {
  noted.stream = stream;
  noted.workspace = nullptr;  // The library's own again.
  return 0;
}

int cublasSetWorkspace_v2(void*, void* workspace, std::size_t bytes) {
  noted.workspace = workspace;
  noted.workspace_bytes = bytes;
  return 0;
}

int cublasSetMathMode(void*, int mode) {
  noted.math_mode = mode;
  return 0;
}

// All matrices are stored by columns.
int cublasSgemm_v2(void*, int a_is, int b_is, int rows, int columns, int inner, const float* factor,
                   const float* a, int a_step, const float* b, int b_step,
                   const float* result_factor, float* result, int result_step) {
  for (int column = 0; column < columns; ++column) {
    for (int row = 0; row < rows; ++row) {
      float sum = 0;
      for (int i = 0; i < inner; ++i) {
        sum += element(a, a_step, a_is == 1, row, i) * element(b, b_step, b_is == 1, i, column);
      }
      float& to = result[column * result_step + row];
      to = *factor * sum + (*result_factor == 0 ? 0 : *result_factor * to);
    }
  }
  return noted.multiply_status;
}
}
// NOLINTEND(readability-identifier-naming)
