// Finds the GPUs of a process that runs with GPUs and without them.
#pragma once
#include <cstddef>

#include <rota/export.h>

namespace rota {

// Lets rota use the GPUs that this process sees, and returns how many it sees. Opens rota's library
// for CUDA at run time, so the program is linked with nothing of CUDA. A program that always needs
// GPUs can be linked with the target rota::cuda instead, and call use_devices() of <rota/cuda.h>.
//
// Call it before you make a Communicator that gets values on a GPU. Further calls change nothing.
// The library is librota_cuda.so where the dynamic linker finds it, or the file that the
// environment variable ROTA_CUDA_LIBRARY names. It is never closed.
//
// Throws Error kSystem if the library, the driver or a GPU is missing: the text says which. Throws
// Error kInvalidArgument if the library is not of this release of rota.
ROTA_EXPORT std::size_t open_devices();

}  // namespace rota
