// Lets ranks of a host use each other's memory: pins arenas, and opens allocations of devices.
#include "cuda/sharing.h"

#include <cstring>
#include <random>

#include "cuda/devices.h"
#include "cuda/driver.h"
#include "cuda/with_device.h"

namespace rota::cuda {
namespace {

// What a MemoryHandle has. CUDA opens no handle in the process that has made it, so the process
// finds the address here.
struct Contents {
  cudaIpcMemHandle_t of_cuda;
  std::uint64_t process;
  void* base;
  std::uint8_t device;  // In that process.
};
static_assert(sizeof(Contents) <= sizeof(MemoryHandle));

// Returns a random number: processes of two containers may have the same id.
std::uint64_t own_process() noexcept {
  static const std::uint64_t kNumber = [] {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
  }();
  return kNumber;
}

Contents contents_of(const MemoryHandle& handle) noexcept {
  Contents contents{};
  std::memcpy(&contents, handle.bytes.data(), sizeof contents);
  return contents;
}

int pin(void* address, std::size_t bytes) noexcept {
  return with_device(any_used_device(),
                     [&] { return cudaHostRegister(address, bytes, cudaHostRegisterPortable); });
}

int unpin(void* address) noexcept {
  return with_device(any_used_device(), [&] { return cudaHostUnregister(address); });
}

int find_allocation(const void* address, Allocation& allocation) noexcept {
  const Driver& calls = driver();
  if (calls.error != cudaSuccess) return calls.error;
  const auto at = reinterpret_cast<CUdeviceptr>(address);
  CUdeviceptr base = 0;
  unsigned long long number = 0;
  CUresult error = calls.find_range(&base, &allocation.bytes, at);
  CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_BUFFER_ID;
  void* value = &number;
  if (error == CUDA_SUCCESS) error = calls.find_attributes(1, &attribute, &value, at);
  allocation.base = reinterpret_cast<void*>(base);  // NOLINT
  allocation.number = number;
  return static_cast<int>(error);
}

int share(std::uint8_t device, void* base, MemoryHandle& handle) noexcept {
  Contents contents{.of_cuda = {}, .process = own_process(), .base = base, .device = device};
  const int error =
      with_device(device, [&] { return cudaIpcGetMemHandle(&contents.of_cuda, base); });
  std::memcpy(handle.bytes.data(), &contents, sizeof contents);
  return error;
}

// Lets a device access the memory of another device of this process. CUDA does not do that by
// itself, and a kernel that tries it breaks the device for the whole process.
int allow_access(std::uint8_t device, std::uint8_t to) noexcept {
  if (device == to) return 0;
  const int error = with_device(device, [&] { return cudaDeviceEnablePeerAccess(to, 0); });
  return error == cudaErrorPeerAccessAlreadyEnabled ? 0 : error;
}

int open(std::uint8_t device, const MemoryHandle& handle, void*& base) noexcept {
  const Contents contents = contents_of(handle);
  if (contents.process == own_process()) {
    const int error = allow_access(device, contents.device);
    if (error == 0) base = contents.base;
    return error;
  }
  return with_device(device, [&] {
    return cudaIpcOpenMemHandle(&base, contents.of_cuda, cudaIpcMemLazyEnablePeerAccess);
  });
}

// An address that open() has taken from this process is not CUDA's to close.
int close(std::uint8_t device, void* base) noexcept {
  const int error = with_device(device, [&] { return cudaIpcCloseMemHandle(base); });
  return error == cudaErrorInvalidValue ? 0 : error;
}

}  // namespace

void add_sharing(Calls& calls) noexcept {
  calls.pin = pin;
  calls.unpin = unpin;
  calls.find_allocation = find_allocation;
  calls.share = share;
  calls.open = open;
  calls.close = close;
}

}  // namespace rota::cuda
