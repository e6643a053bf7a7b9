// Asks the CUDA runtime for functions of the driver.
#include "cuda/driver.h"

namespace rota::cuda {
namespace {

// Finds a function as it was in CUDA 12, which each driver for CUDA 13 has.
template <class Function>
void find(Driver& driver, const char* name, Function& function) noexcept {
  if (driver.error != cudaSuccess) return;
  constexpr unsigned kVersion = 12000;
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  driver.error =
      cudaGetDriverEntryPointByVersion(name, &found, kVersion, cudaEnableDefault, &result);
  if (driver.error == cudaSuccess && result != cudaDriverEntryPointSuccess) {
    driver.error = cudaErrorSymbolNotFound;
  }
  function = reinterpret_cast<Function>(found);
}

}  // namespace

const Driver& driver() noexcept {
  static const Driver kFound = [] {
    Driver all;
    find(all, "cuDeviceGet", all.get_device);
    find(all, "cuDevicePrimaryCtxRetain", all.retain_context);
    find(all, "cuCtxPushCurrent", all.push_context);
    find(all, "cuCtxPopCurrent", all.pop_context);
    find(all, "cuPointerGetAttributes", all.find_attributes);
    find(all, "cuMemGetAddressRange", all.find_range);
    find(all, "cuStreamWaitValue64", all.wait_for_value);
    return all;
  }();
  return kFound;
}

}  // namespace rota::cuda
