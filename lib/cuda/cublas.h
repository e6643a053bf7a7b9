// Declares the functions of cuBLAS that rota calls. cuBLAS is opened at run time, so nothing of it
// is needed to compile rota. A test compares these declarations with cuBLAS's own header where that
// header is installed.
#pragma once
#include <cstddef>

namespace rota::cuda {

struct Cublas {
  // A cublasHandle_t and a cudaStream_t. What is an int here is an enumeration there.
  using Handle = void*;
  using Stream = void*;

  static constexpr int kSuccess = 0;     // CUBLAS_STATUS_SUCCESS
  static constexpr int kPlain = 0;       // CUBLAS_OP_N
  static constexpr int kTransposed = 1;  // CUBLAS_OP_T
  // CUBLAS_DEFAULT_MATH: numbers have at least the bits of float32, so never those of TF32.
  static constexpr int kFullPrecision = 0;

  int (*create)(Handle* handle) = nullptr;
  int (*destroy)(Handle handle) = nullptr;
  int (*set_stream)(Handle handle, Stream stream) = nullptr;
  int (*set_workspace)(Handle handle, void* workspace, std::size_t bytes) = nullptr;
  int (*set_math_mode)(Handle handle, int mode) = nullptr;
  // result = factor · a · b + result_factor · result, of matrices that are stored by columns.
  int (*sgemm)(Handle handle, int a_is, int b_is, int rows, int columns, int inner,
               const float* factor, const float* a, int a_step, const float* b, int b_step,
               const float* result_factor, float* result, int result_step) = nullptr;

  // The names of these functions, in the order of the members.
  static constexpr const char* kNames[] = {"cublasCreate_v2",    "cublasDestroy_v2",
                                           "cublasSetStream_v2", "cublasSetWorkspace_v2",
                                           "cublasSetMathMode",  "cublasSgemm_v2"};
};

// Opens cuBLAS when it is called first, and returns its functions; null if there is no cuBLAS of
// CUDA 13 or 12. Any thread may call it. The library is never closed.
const Cublas* cublas() noexcept;

}  // namespace rota::cuda
