// Lets a program use GPUs. Link the target rota::cuda, which has this header and the library with
// all that rota does by CUDA. Programs that run without GPUs too can use <rota/devices.h> instead.
#pragma once
#include <cstddef>

#include <rota/cuda_calls.h>
#include <rota/export.h>

extern "C" ROTA_EXPORT const rota::cuda::Calls* rota_calls_of_cuda() noexcept;

namespace rota::cuda {

// Lets rota use the GPUs that this process sees, and returns how many it sees. Call it before you
// make a Communicator that gets values on a GPU. Further calls change nothing.
//
// Throws Error kSystem if there is no driver, if the driver is too old, or if it shows no GPU: the
// text says which. Throws Error kInvalidArgument if the library is not of this release of rota.
inline std::size_t use_devices() { return use_devices(*rota_calls_of_cuda()); }

}  // namespace rota::cuda
