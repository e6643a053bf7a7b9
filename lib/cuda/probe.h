// Loads rota's kernels, and so tells whether a device can run them.
#pragma once

namespace rota::cuda {

// Loads all kernels onto the current device. Returns the error with which the device would refuse a
// launch. 0: it can run kernels.
int load_kernels() noexcept;

}  // namespace rota::cuda
