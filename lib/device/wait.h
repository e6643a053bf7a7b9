// Waits for a device at once: without the pauses of Stream::finish().
#pragma once
#include <cstdint>
#include <string_view>

#include "device/stream.h"

namespace rota::device {

// Returns once the event has happened. `what` is the object of the sentence "the device did not end
// …": "a forward pass". Throws Error kTimeout after 30 s; kSystem if the device has failed.
void wait_for(const Event& event, std::uint8_t device, std::string_view what);

}  // namespace rota::device
