// Reads the variables that say which devices a process may use, and how.
#pragma once
#include <optional>
#include <string>

namespace rota::device {

// Returns CUDA_VISIBLE_DEVICES, if it is set.
std::optional<std::string> visible_devices();

// Returns whether other processes of the job may use the same devices: ROTA_SHARE_DEVICES is 1.
bool shares_devices();

// Returns whether CUDA_DEVICE_MAX_CONNECTIONS is less than its default, 8. Then many streams share
// a queue of the device, in which work of one stream waits behind that of another.
bool streams_share_queues();

// Returns the file name of rota's library for CUDA: ROTA_CUDA_LIBRARY, if it is set.
std::string library_name();

}  // namespace rota::device
