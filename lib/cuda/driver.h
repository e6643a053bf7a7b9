// Has the functions of the NVIDIA driver that the CUDA runtime has no equal of. The runtime finds
// them: nothing is linked with the driver, which a machine without GPUs does not have.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace rota::cuda {

struct Driver {
  CUresult (*get_device)(CUdevice* device, int number) = nullptr;
  CUresult (*retain_context)(CUcontext* context, CUdevice device) = nullptr;
  CUresult (*push_context)(CUcontext context) = nullptr;
  CUresult (*pop_context)(CUcontext* context) = nullptr;
  CUresult (*find_range)(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) = nullptr;
  CUresult (*wait_for_value)(CUstream stream, CUdeviceptr address, cuuint64_t value,
                             unsigned flags) = nullptr;
  CUresult (*find_attributes)(unsigned count, CUpointer_attribute* attributes, void** values,
                              CUdeviceptr address) = nullptr;
  // Why they are not there: 0, or an error code of the runtime.
  cudaError_t error = cudaSuccess;
};

const Driver& driver() noexcept;

}  // namespace rota::cuda
