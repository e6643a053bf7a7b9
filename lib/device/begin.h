// Begins the use of a device: before the first memory or stream of a device is made, rota finds out
// whether this process can use the device.
#pragma once
#include <cstdint>

#include <rota/cuda_calls.h>

namespace rota::device {

// Returns how many devices this process sees. Throws Error kSystem if there are none.
std::size_t search(const cuda::Calls& calls);

// Does nothing if the process uses this device already. Any thread may call it. Throws Error
// kInvalidArgument if there is no such device, if another process of the job uses it (claims.h), or
// if there is no table of functions; kSystem if the device cannot run rota's kernels.
void begin_use(std::uint8_t device);

// Lets begin_use() look at every device again, with another table.
void forget_uses() noexcept;

}  // namespace rota::device
