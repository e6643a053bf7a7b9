// What the fake device's table says about the driver, the devices and errors.
#pragma once
#include <rota/cuda_calls.h>

namespace rota::testing {

inline constexpr int kFakeInvalid = 1;
inline constexpr int kFakeNoRoom = 2;
inline constexpr int kFakeNoStream = 400;
inline constexpr int kFakeFaulted = 700;
inline constexpr int kFakeCaptured = 900;

// Fills the functions that describe errors, the driver and devices. Each device can run kernels.
void add_search(cuda::Calls& calls);

}  // namespace rota::testing
