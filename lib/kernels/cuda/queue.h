// Says where a kernel is put, and how many blocks it may have.
#pragma once

namespace rota::kernels::cuda {

struct Queue {
  void* stream;          // A cudaStream_t.
  unsigned most_blocks;  // How many blocks a kernel may have that can do its work in fewer; not 0.
};

using Status = int;  // A cudaError_t: 0 if the kernel is on the stream.

}  // namespace rota::kernels::cuda
