// Puts kernels on the streams of the table. Needs nothing of CUDA: tests compile it together with
// the kernels as plain C++.
#pragma once
#include <rota/cuda_stream.h>

#include "cuda/devices.h"
#include "kernels/cuda/queue.h"

namespace rota::cuda {

// Calls `launch` with the queue of a stream, while the stream's device is current.
template <class Launch>
int on_queue(const On& on, Launch launch) noexcept {
  const Current current(on.device);
  if (current.error() != 0) return current.error();
  // A handle is a cudaStream_t, as a number.
  return launch(kernels::cuda::Queue{reinterpret_cast<void*>(on.stream),  // NOLINT
                                     blocks_that_fill(on.device)});
}

}  // namespace rota::cuda
