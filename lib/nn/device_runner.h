// Makes what runs the passes of a model on a device.
#pragma once
#include <cstdint>
#include <memory>

#include "nn/runner.h"

namespace rota::nn {

std::unique_ptr<Runner<float>> make_device_runner(std::uint8_t device, ImageShape input);

}  // namespace rota::nn
