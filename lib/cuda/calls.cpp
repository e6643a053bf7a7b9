// Fills the table of functions with those of the CUDA runtime.
#include <rota/cuda.h>

#include <cstdio>
#include <cstring>
#include <string_view>

#include "cuda/arithmetic.h"
#include "cuda/devices.h"
#include "cuda/driver.h"
#include "cuda/graphs.h"
#include "cuda/models.h"
#include "cuda/probe.h"
#include "cuda/sharing.h"
#include "cuda/with_device.h"

namespace rota::cuda {
namespace {

static_assert(CUDART_VERSION >= 13000);

template <class Object>
Handle handle_of(Object object) noexcept {
  return reinterpret_cast<Handle>(object);
}
cudaStream_t stream_of(Handle handle) noexcept {
  return reinterpret_cast<cudaStream_t>(handle);  // NOLINT(performance-no-int-to-ptr)
}
cudaEvent_t event_of(Handle handle) noexcept {
  return reinterpret_cast<cudaEvent_t>(handle);  // NOLINT(performance-no-int-to-ptr)
}

void describe(int error, char* text, std::size_t bytes) noexcept {
  std::snprintf(text, bytes, "%s", cudaGetErrorString(static_cast<cudaError_t>(error)));
}

int count_devices(int& count) noexcept { return forgotten(cudaGetDeviceCount(&count)); }

int find_driver(int& version) noexcept { return forgotten(cudaDriverGetVersion(&version)); }

int describe_device(std::uint8_t device, DeviceFacts& facts) noexcept {
  cudaDeviceProp properties{};
  const int error = forgotten(cudaGetDeviceProperties(&properties, device));
  if (error != 0) return error;
  std::snprintf(facts.name, sizeof facts.name, "%s", properties.name);
  std::size_t at = 0;
  for (const char byte : std::string_view(properties.uuid.bytes, sizeof properties.uuid.bytes)) {
    const auto number = static_cast<unsigned>(static_cast<unsigned char>(byte));
    std::snprintf(facts.id + at, sizeof facts.id - at, "%02x", number);
    at += 2;
  }
  facts.capability = properties.major * 10 + properties.minor;
  return 0;
}

int load_kernels_on(std::uint8_t device) noexcept {
  const Current current(device);
  return current.error() != 0 ? current.error() : load_kernels();
}

int allocate(std::uint8_t device, std::size_t bytes, void*& address) noexcept {
  return with_device(device, [&] { return cudaMalloc(&address, bytes); });
}

int free(std::uint8_t device, void* address) noexcept {
  return with_device(device, [&] { return cudaFree(address); });
}

int allocate_pinned(std::size_t bytes, void*& address) noexcept {
  return with_device(any_used_device(),
                     [&] { return cudaHostAlloc(&address, bytes, cudaHostAllocPortable); });
}

int free_pinned(void* address) noexcept {
  return with_device(any_used_device(), [&] { return cudaFreeHost(address); });
}

// The runtime's function would begin to use a device. CUDA moves managed memory between the host
// and devices, so nothing is said about it.
int find_memory(const void* address, Memory& memory, std::uint8_t& device) noexcept {
  if (driver().error != cudaSuccess) return driver().error;
  unsigned type = 0;
  unsigned is_managed = 0;  // The driver may write four bytes.
  int number = 0;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                      CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* values[] = {&type, &is_managed, &number};
  const CUresult error =
      driver().find_attributes(3, attributes, values, reinterpret_cast<CUdeviceptr>(address));
  if (error != CUDA_SUCCESS) return static_cast<int>(error);
  if (is_managed != 0) return cudaErrorNotSupported;
  memory = type == CU_MEMORYTYPE_DEVICE ? Memory::kDevice
           : type == CU_MEMORYTYPE_HOST ? Memory::kPinned
                                        : Memory::kHost;
  if (memory == Memory::kDevice) device = static_cast<std::uint8_t>(number);
  return 0;
}

int make_stream(std::uint8_t device, Handle& stream) noexcept {
  cudaStream_t own = nullptr;
  const int error =
      with_device(device, [&] { return cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking); });
  stream = handle_of(own);
  return error;
}

int destroy_stream(const On& on) noexcept {
  return with_device(on.device, [&] { return cudaStreamDestroy(stream_of(on.stream)); });
}

int make_event(std::uint8_t device, Handle& event) noexcept {
  cudaEvent_t own = nullptr;
  const int error =
      with_device(device, [&] { return cudaEventCreateWithFlags(&own, cudaEventDisableTiming); });
  event = handle_of(own);
  return error;
}

int destroy_event(std::uint8_t device, Handle event) noexcept {
  return with_device(device, [&] { return cudaEventDestroy(event_of(event)); });
}

// In a graph, an event of the default kind would order only what is in the graph.
int record(const On& on, Handle event) noexcept {
  const unsigned kind = is_captured(on) ? cudaEventRecordExternal : cudaEventRecordDefault;
  const Current current(on.device);
  if (current.error() != 0) return current.error();
  if (const int error = find_foreign_capture(on); error != 0) return error;
  return forgotten(cudaEventRecordWithFlags(event_of(event), stream_of(on.stream), kind));
}

int test(std::uint8_t device, Handle event, bool& is_done) noexcept {
  const Current current(device);
  if (current.error() != 0) return current.error();
  const DuringCaptures allowed;
  const cudaError_t state = cudaEventQuery(event_of(event));
  is_done = state == cudaSuccess;
  if (state == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    return 0;
  }
  return forgotten(state);
}

int wait_for(const On& on, Handle event) noexcept {
  return with_device(on.device,
                     [&] { return cudaStreamWaitEvent(stream_of(on.stream), event_of(event)); });
}

// Pinned memory has the same address on devices.
int wait_for_word(const On& on, const std::uint64_t* word, std::uint64_t number) noexcept {
  const Current current(on.device);
  if (current.error() != 0) return current.error();
  if (const int error = find_foreign_capture(on); error != 0) return error;
  return static_cast<int>(driver().wait_for_value(
      stream_of(on.stream), reinterpret_cast<CUdeviceptr>(word), number, CU_STREAM_WAIT_VALUE_GEQ));
}

int copy(const On& on, void* to, const void* from, std::size_t bytes) noexcept {
  return with_device(on.device, [&] {
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(on.stream));
  });
}

int clear(const On& on, void* at, std::size_t bytes) noexcept {
  return with_device(on.device,
                     [&] { return cudaMemsetAsync(at, 0, bytes, stream_of(on.stream)); });
}

Calls filled_table() noexcept {
  Calls calls{.name = "CUDA",
              .describe = describe,
              .count_devices = count_devices,
              .allocate = allocate,
              .free = free,
              .allocate_pinned = allocate_pinned,
              .free_pinned = free_pinned,
              .find_memory = find_memory,
              .make_stream = make_stream,
              .destroy_stream = destroy_stream,
              .make_event = make_event,
              .destroy_event = destroy_event,
              .record = record,
              .test = test,
              .wait_for = wait_for,
              .copy = copy,
              .clear = clear,
              .cuda_version = CUDART_VERSION,
              .find_driver = find_driver,
              .describe_device = describe_device,
              .load_kernels = load_kernels_on};
  add_arithmetic(calls);
  add_sharing(calls);
  add_graphs(calls);
  add_models(calls);
  calls.wait_for_word = wait_for_word;
  calls.enter = enter;
  calls.leave = leave;
  return calls;
}

}  // namespace
}  // namespace rota::cuda

const rota::cuda::Calls* rota_calls_of_cuda() noexcept {
  static const rota::cuda::Calls kCalls = rota::cuda::filled_table();
  return &kCalls;
}
