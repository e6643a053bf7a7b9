// Makes a device the current one of this thread while a library works that looks for it there.
#pragma once
#include <cstdint>

#include "device/calls.h"

namespace rota::device {

class Current {
 public:
  // Throws Error kSystem.
  explicit Current(std::uint8_t device) {
    check(calls().enter(device), device, "the selection of the device");
  }
  ~Current() {
    if (const cuda::Calls* calls = calls_in_use()) calls->leave();
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
};

}  // namespace rota::device
