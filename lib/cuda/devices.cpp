// Pushes the context that the runtime uses too, the primary one, and pops it. cudaSetDevice() would
// do, but to restore the thread's earlier device it would begin to use that device, which may be
// another process's.
#include "cuda/devices.h"

#include <array>
#include <atomic>
#include <mutex>

#include "cuda/driver.h"

namespace rota::cuda {
namespace {

// The codes of driver and runtime are the same numbers.
int code_of(CUresult result) noexcept { return static_cast<int>(result); }

std::atomic<std::uint8_t> latest_device{0};  // Of the devices that this process uses.

// A context that a process uses stays until the process ends.
struct Contexts {
  std::array<std::atomic<CUcontext>, 256> all{};  // Index = number of the device.
  std::mutex mutex;
};

int context_of(std::uint8_t device, CUcontext& context) noexcept {
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): without memory, the process ends here.
  static auto* const kContexts = new Contexts;
  std::atomic<CUcontext>& own = kContexts->all[device];
  context = own.load(std::memory_order_acquire);
  if (context != nullptr) return 0;
  const Driver& calls = driver();
  if (calls.error != cudaSuccess) return calls.error;
  const std::scoped_lock lock(kContexts->mutex);
  context = own.load(std::memory_order_relaxed);
  if (context != nullptr) return 0;
  CUdevice handle = 0;
  if (const CUresult error = calls.get_device(&handle, device); error != CUDA_SUCCESS) {
    return code_of(error);
  }
  const CUresult error = calls.retain_context(&context, handle);
  if (error != CUDA_SUCCESS) return code_of(error);
  own.store(context, std::memory_order_release);
  latest_device.store(device, std::memory_order_relaxed);
  return 0;
}

}  // namespace

int enter(std::uint8_t device) noexcept {
  CUcontext context = nullptr;
  const int error = context_of(device, context);
  return error != 0 ? error : code_of(driver().push_context(context));
}

int leave() noexcept {
  CUcontext popped = nullptr;
  return code_of(driver().pop_context(&popped));
}

std::uint8_t any_used_device() noexcept { return latest_device.load(std::memory_order_relaxed); }

unsigned blocks_that_fill(std::uint8_t device) noexcept {
  static std::array<std::atomic<unsigned>, 256> known{};
  unsigned count = known[device].load(std::memory_order_relaxed);
  if (count != 0) return count;
  // A multiprocessor has room for 2048 threads, or for fewer. Kernels have blocks of 256 threads.
  constexpr unsigned kBlocksOfOne = 8;
  int multiprocessors = 0;
  if (cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) != 0) {
    return 1;
  }
  count = static_cast<unsigned>(multiprocessors) * kBlocksOfOne;
  known[device].store(count, std::memory_order_relaxed);
  return count;
}

}  // namespace rota::cuda
