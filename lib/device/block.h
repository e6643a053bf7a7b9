// Allocates memory for what rota itself does: memory of the host that devices can copy from and to
// while the host goes on, and memory of a device that is not cleared.
#pragma once
#include <cstddef>
#include <cstdint>

#include <rota/device_memory.h>
#include <rota/memory.h>

namespace rota::device {

// The memory is zeroed. Throws Error kNoMemory; kSystem if CUDA fails;
// kInvalidArgument if there is no table of functions.
Block allocate_pinned(std::size_t bytes);

// Pins memory of the host that something else has allocated. Returns a Block of the same bytes,
// which unpins them before it gives them back. If the system refuses to pin them, returns the Block
// as it was, and sets `is_pinned` to false.
Block pin(Block block, bool& is_pinned);

// Returns memory of a device that exists. Waits for nothing that is under way on the device, as
// allocate_device() does. Throws Error kNoMemory.
DeviceBlock allocate_unwritten(std::size_t bytes, std::uint8_t device);

}  // namespace rota::device
