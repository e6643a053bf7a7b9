// Has the table of CUDA's functions that rota calls. librota includes and links nothing of CUDA: a
// library that is compiled with CUDA fills the table.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include <rota/codec.h>
#include <rota/cuda_model_calls.h>
#include <rota/cuda_stream.h>
#include <rota/export.h>
#include <rota/reduce_op.h>
#include <rota/values.h>

namespace rota::cuda {

// What an address belongs to.
enum class Memory : std::uint8_t {
  kHost,    // Ordinary memory. CUDA may not know it.
  kPinned,  // Memory of the host that devices can access, and that stays in its place.
  kDevice,
};

// What rota wants to know about a device.
struct DeviceFacts {
  char name[256] = "";  // Such as "NVIDIA H100 80GB HBM3".
  // What distinguishes the device from all others on this machine, whatever number a process gives
  // it. A part of a device that CUDA_VISIBLE_DEVICES names (MIG-…) has an id of its own.
  char id[40] = "";
  int capability = 0;  // Such as 90 for 9.0.
};

// A piece of memory of a device, as CUDA has allocated it.
struct Allocation {
  void* base = nullptr;
  std::size_t bytes = 0;
  std::uint64_t number = 0;  // Not 0. The process has no other allocation of this number, ever.
};

// By which another rank of the same host opens an allocation. Only the table's functions know what
// is in it. Ranks that run the same version of rota understand each other's.
struct MemoryHandle {
  std::array<std::byte, 96> bytes{};
};

// A reduction of several inputs from left to right: (inputs[0] op inputs[1]) op inputs[2] and so
// on. For a mean, the last operation also multiplies by the factor. An output may be an input.
struct ManyInputs {
  const void* const* inputs = nullptr;
  std::uint32_t input_count = 0;  // 2 to Calls::kMostInputs.
  void* to = nullptr;
  void* also_to = nullptr;  // A second output, or null.
  std::size_t count = 0;
  DataType type{};
  ReduceOp op{};
  double factor = 1;
};

// A function that returns int returns 0 or an error code of CUDA. No function with an On waits for
// the stream: it only adds an operation to the stream. Its memory is borrowed until the stream has
// done the operation. Operations of one stream run in order.
struct Calls {
  // The version of this struct. librota refuses a table of another version.
  static constexpr std::uint32_t kVersion = 1;
  std::uint32_t version = kVersion;
  const char* name = "";  // Such as "CUDA 13.0".

  // Writes the text of an error code, with a zero at its end, into `bytes` bytes.
  void (*describe)(int error, char* text, std::size_t bytes) noexcept = nullptr;
  // If this fails, `count` is unchanged.
  int (*count_devices)(int& count) noexcept = nullptr;

  // Memory of a device, at least 256-byte aligned. Its contents are unspecified.
  int (*allocate)(std::uint8_t device, std::size_t bytes, void*& address) noexcept = nullptr;
  int (*free)(std::uint8_t device, void* address) noexcept = nullptr;
  // Pinned memory of the host. All devices can access it, at the same address as the host.
  int (*allocate_pinned)(std::size_t bytes, void*& address) noexcept = nullptr;
  int (*free_pinned)(void* address) noexcept = nullptr;
  // Sets `memory` and, for kDevice, `device`.
  int (*find_memory)(const void* address, Memory& memory, std::uint8_t& device) noexcept = nullptr;

  int (*make_stream)(std::uint8_t device, Handle& stream) noexcept = nullptr;
  int (*destroy_stream)(const On& on) noexcept = nullptr;
  int (*make_event)(std::uint8_t device, Handle& event) noexcept = nullptr;
  int (*destroy_event)(std::uint8_t device, Handle event) noexcept = nullptr;
  // The event happens when all earlier operations of the stream are done.
  int (*record)(const On& on, Handle event) noexcept = nullptr;
  // Sets `is_done`: whether the event has happened since its last record. Does not wait.
  int (*test)(std::uint8_t device, Handle event, bool& is_done) noexcept = nullptr;
  // Later operations of the stream start after the event, as it was recorded last.
  int (*wait_for)(const On& on, Handle event) noexcept = nullptr;

  // From any memory to any memory, except from kHost to kHost.
  int (*copy)(const On& on, void* to, const void* from, std::size_t bytes) noexcept = nullptr;
  int (*clear)(const On& on, void* at, std::size_t bytes) noexcept = nullptr;

  // Kernels. Each has the bits of rota's kernels for the host. Addresses are of the device, or
  // pinned. Values are aligned for their type, coded values need no alignment.
  //
  // accumulator[i] = accumulator[i] op input[i]; for a mean: (accumulator[i] + input[i]) * factor.
  int (*combine)(const On& on, void* accumulator, const void* input, std::size_t count,
                 DataType type, ReduceOp op, double factor) noexcept = nullptr;
  int (*scale)(const On& on, void* values, std::size_t count, DataType type,
               double factor) noexcept = nullptr;
  // Encodes float32. `key` and `first` are for stochastic rounding.
  int (*encode)(const On& on, void* coded, const void* values, std::size_t count, Codec codec,
                std::uint32_t key, std::uint32_t first) noexcept = nullptr;
  // values[i] = decoded[i]
  int (*decode)(const On& on, void* values, const void* coded, std::size_t count,
                Codec codec) noexcept = nullptr;
  // values[i] = (values[i] + decoded[i]) * factor
  int (*decode_add)(const On& on, void* values, const void* coded, std::size_t count, Codec codec,
                    float factor) noexcept = nullptr;
  // lost[i] = (values[i] - decoded[i]) * factor; 0 if that is not finite.
  int (*lose)(const On& on, void* lost, const void* values, const void* coded, std::size_t count,
              Codec codec, float factor) noexcept = nullptr;

  // For streams that wait for rota. Later operations of the stream start when the word, which is in
  // pinned memory and which the host changes, has come to `number`: when *word - number, as a
  // signed number, is not negative. Returns 801, cudaErrorNotSupported, if streams of the device
  // cannot do so.
  int (*wait_for_word)(const On& on, const std::uint64_t* word,
                       std::uint64_t number) noexcept = nullptr;
  // For the search for devices. No function but load_kernels() uses memory of a device.
  int cuda_version = 0;  // With which the table's library was compiled: 13000 for CUDA 13.0.
  // Sets `version` to the newest CUDA that the driver knows, or to 0 if there is no driver.
  int (*find_driver)(int& version) noexcept = nullptr;
  int (*describe_device)(std::uint8_t device, DeviceFacts& facts) noexcept = nullptr;
  // Loads all kernels of the table, so that no later launch waits for the whole device. Returns the
  // error with which the device would refuse to launch them.
  int (*load_kernels)(std::uint8_t device) noexcept = nullptr;

  // For ranks that share memory. A table may lack these functions.
  //
  // Makes memory of the host pinned until unpin(), as if allocate_pinned() had given it.
  int (*pin)(void* address, std::size_t bytes) noexcept = nullptr;
  int (*unpin)(void* address) noexcept = nullptr;
  int (*find_allocation)(const void* address, Allocation& allocation) noexcept = nullptr;
  // Fills the handle of an allocation of the device. Fails where the system refuses that, as it
  // does in some containers.
  int (*share)(std::uint8_t device, void* base, MemoryHandle& handle) noexcept = nullptr;
  // Sets `base` to an address at which `device` can access the allocation of a handle until
  // close(). The allocation may be of this process or of another one, and of any device.
  int (*open)(std::uint8_t device, const MemoryHandle& handle, void*& base) noexcept = nullptr;
  int (*close)(std::uint8_t device, void* base) noexcept = nullptr;
  static constexpr std::size_t kMostInputs = 8;
  int (*reduce)(const On& on, const ManyInputs& reduction) noexcept = nullptr;

  // For NCCL, whose functions use the current device of the calling thread. Makes `device` the
  // current one until leave(). Then the thread has again what it had before.
  int (*enter)(std::uint8_t device) noexcept = nullptr;
  int (*leave)() noexcept = nullptr;

  // For work that is repeated. A table may lack these functions.
  //
  // From now on until end_capture(), operations of this thread on the stream do not run, but become
  // the operations of a graph. They must not wait for an event or a word. Meanwhile this thread
  // must not allocate or free memory, and must not test events. Other threads may.
  int (*begin_capture)(const On& on) noexcept = nullptr;
  // Sets `graph`. If a call has failed since begin_capture(), there may be no graph: this function
  // then fails, too. In any case the stream is no longer captured.
  int (*end_capture)(const On& on, Handle& graph) noexcept = nullptr;
  // Adds all operations of the graph to the stream of which they were captured. They have the
  // arguments that they had then. The events that they record count as recorded by this call.
  int (*launch_graph)(const On& on, Handle graph) noexcept = nullptr;
  // No launch of the graph may be under way.
  int (*destroy_graph)(std::uint8_t device, Handle graph) noexcept = nullptr;

  // For models that are trained on a device.
  ModelCalls models = {};
};

// Makes rota use this table for all devices of the process. It must exist until the process ends.
// Communicators that are made afterwards accept values on devices. Throws Error kInvalidArgument if
// the table has another version.
ROTA_EXPORT void use(const Calls& calls);

// Makes rota use this table if this process sees a device, and returns how many it sees. Throws
// what use() throws, and Error kSystem with a text that says what is missing.
ROTA_EXPORT std::size_t use_devices(const Calls& calls);

}  // namespace rota::cuda
