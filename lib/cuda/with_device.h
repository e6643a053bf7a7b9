// Calls functions of the CUDA runtime while a device is the calling thread's.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/devices.h"

namespace rota::cuda {

// The runtime remembers the last error of a thread. The program must not take rota's for its own.
inline int forgotten(cudaError_t error) noexcept {
  if (error != cudaSuccess) static_cast<void>(cudaGetLastError());
  return error;
}

// Calls `call` while the device is the thread's. Without a device of the thread, the runtime would
// begin to use device 0, which may be another process's. Returns an error code of CUDA.
template <class Call>
int with_device(std::uint8_t device, Call call) noexcept {
  const Current current(device);
  return current.error() != 0 ? current.error() : forgotten(call());
}

}  // namespace rota::cuda
