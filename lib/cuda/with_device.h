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

// While it exists, the calling thread may make calls that CUDA calls unsafe, although the program
// captures a stream. Otherwise such a call, even of another thread, breaks most captures. rota's
// calls touch nothing of a capture of the program.
class DuringCaptures {
 public:
  DuringCaptures() noexcept { exchange(); }
  DuringCaptures(const DuringCaptures&) = delete;
  DuringCaptures& operator=(const DuringCaptures&) = delete;
  ~DuringCaptures() { exchange(); }

 private:
  void exchange() noexcept { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }

  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // The one that the thread has not.
};

// Calls `call` while the device is the thread's. Without a device of the thread, the runtime would
// begin to use device 0, which may be another process's. Returns an error code of CUDA.
template <class Call>
int with_device(std::uint8_t device, Call call) noexcept {
  const Current current(device);
  if (current.error() != 0) return current.error();
  const DuringCaptures allowed;
  return forgotten(call());
}

}  // namespace rota::cuda
