// Is compiled as CUDA, for the same architectures as all kernels.
#include "cuda/probe.h"

#include <cuda_runtime.h>

#include "kernels/cuda/launch.h"

namespace rota::cuda {

// CUDA loads a kernel when it is needed first, and may wait for the whole device then. If a stream
// waited for another thread of rota, which needs a new kernel, both would wait for ever.
int load_kernels() noexcept {
  cudaFuncAttributes attributes{};
  cudaError_t error = cudaSuccess;
  for (const void* kernel : kernels::cuda::all_kernels()) {
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, kernel);
  }
  static_cast<void>(cudaGetLastError());
  return error;
}

}  // namespace rota::cuda
