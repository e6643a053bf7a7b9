// Has the table of NCCL's functions that rota calls. librota includes and links nothing of NCCL:
// the library librota_nccl.so opens NCCL at run time, and fills the table.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include <rota/cuda_calls.h>
#include <rota/export.h>
#include <rota/reduce_op.h>
#include <rota/values.h>

namespace rota::nccl {

// A communicator of NCCL, as a number. Only the table's functions know its meaning.
using Handle = std::uintptr_t;

// The name of a communicator that is to be created. One rank makes it and gives it to the others.
using Id = std::array<std::byte, 128>;

// The error codes of NCCL that mean something to rota.
inline constexpr int kInvalidUsage = 5;
inline constexpr int kRemoteError = 6;  // Another rank failed, or the network.
inline constexpr int kInProgress = 7;  // No error: the call goes on, and get_state() tells its end.

// A call of one of NCCL's collectives. The addresses are of the device, and the same memory may be
// input and output.
struct Job {
  Handle comm = 0;
  cuda::Handle stream = 0;
  const void* input = nullptr;
  void* output = nullptr;
  std::size_t count = 0;
  DataType type = DataType::kFloat32;
};

// A function that returns int returns 0 or an error code of NCCL. Only abort() and destroy() may
// wait: communicators are non-blocking. The functions use the calling thread's current device, and
// are called by one thread at a time for each communicator. After kInProgress, the next call with
// the communicator must wait until get_state() says otherwise.
struct Calls {
  // The version of this struct. librota refuses a table of another version.
  static constexpr std::uint32_t kVersion = 1;
  std::uint32_t version = kVersion;
  int nccl_version = 0;  // As NCCL counts: 22809 for 2.28.9.

  // Writes the text of an error code, and what NCCL has said about its last failure, with a zero at
  // its end, into `bytes` bytes. `comm` may be 0.
  void (*describe)(int error, Handle comm, char* text, std::size_t bytes) noexcept = nullptr;

  int (*make_id)(Id& id) noexcept = nullptr;
  // Begins to create a communicator. All of its ranks must call it.
  int (*create)(const Id& id, std::size_t rank, std::size_t world_size,
                Handle& comm) noexcept = nullptr;
  // Sets `state` to 0, to kInProgress, or to the error that has happened since the creation.
  int (*get_state)(Handle comm, int& state) noexcept = nullptr;
  // Flushes what is under way. Only destroy() may follow.
  int (*finalize)(Handle comm) noexcept = nullptr;
  int (*destroy)(Handle comm) noexcept = nullptr;
  // Ends what is under way, and destroys the communicator.
  int (*abort)(Handle comm) noexcept = nullptr;

  // The collectives add an operation to Job::stream. `count` is that of each rank's part, where
  // ranks have parts. `op` is neither kMean nor a bitwise operation; bytes are only moved.
  int (*all_reduce)(const Job& job, ReduceOp op) noexcept = nullptr;
  int (*reduce)(const Job& job, ReduceOp op, std::size_t root) noexcept = nullptr;
  int (*reduce_scatter)(const Job& job, ReduceOp op) noexcept = nullptr;
  int (*all_gather)(const Job& job) noexcept = nullptr;
  int (*broadcast)(const Job& job, std::size_t root) noexcept = nullptr;
  int (*send)(const Job& job, std::size_t to) noexcept = nullptr;       // From Job::input.
  int (*receive)(const Job& job, std::size_t from) noexcept = nullptr;  // Into Job::output.
  // The calls between these two are one operation.
  int (*begin_group)() noexcept = nullptr;
  int (*end_group)() noexcept = nullptr;

  // What a newer NCCL has. The function is null, and the flags are false, if this one lacks it.
  //
  // Ends what is under way, without waiting, and keeps the communicator for destroy().
  int (*revoke)(Handle comm) noexcept = nullptr;
  // Tells NCCL about memory of the device, which must exist until it is deregistered. If NCCL has
  // no use for that, sets `registration` to 0. The communicator must have no operation under way.
  int (*register_memory)(Handle comm, void* base, std::size_t bytes,
                         Handle& registration) noexcept = nullptr;
  int (*deregister_memory)(Handle comm, Handle registration) noexcept = nullptr;
  bool splits = false;
  bool shrinks = false;
  bool shares_devices = false;  // Several ranks may use one device.
};

// Makes rota use this table for the plan `nccl`. It must exist until the process ends. Throws Error
// kInvalidArgument if the table has another version.
ROTA_EXPORT void use(const Calls& calls);

}  // namespace rota::nccl
