// A library in place of librota_cuda.so, for tests of whole programs: ROTA_CUDA_LIBRARY names it.
// Its devices are the fake ones.
#include "testing/fake_device.h"

extern "C" __attribute__((visibility("default"))) const rota::cuda::Calls*
rota_calls_of_cuda() noexcept {
  static const rota::testing::FakeDevice kDevices;
  return &rota::testing::FakeDevice::calls();
}
