// Has the table of MPI functions that rota calls. Each MPI library has its own ABI, so librota is
// compiled without any mpi.h. A small library that is compiled against one mpi.h fills the table.
// Programs include <rota/mpi.h> instead.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <rota/communicator.h>
#include <rota/export.h>
#include <rota/options.h>
#include <rota/reduce_op.h>
#include <rota/values.h>

namespace rota::mpi {

// An MPI_Comm or an MPI_Request, as a number. Only the table's functions know its meaning.
using Handle = std::uintptr_t;

// MPI's thread levels, in MPI's order.
enum class ThreadLevel : std::uint8_t { kSingle, kFunneled, kSerialized, kMultiple };

// All functions may be called only after MPI_Init and before MPI_Finalize, except for the first
// three. A function that returns int returns 0 or an error code of MPI. Functions with a `request`
// begin an operation, and return at once; the buffers are borrowed until test() reports its end.
// After the end, and if an operation could not begin, the request is 0. `input` is null if the
// input is in `values`, or in its place there.
struct Calls {
  // The version of this struct. librota refuses a table of another version.
  static constexpr std::uint32_t kVersion = 1;
  std::uint32_t version = kVersion;
  const char* name = "";  // Of the MPI library, such as "Open MPI 4.1.4".

  bool (*is_initialized)() noexcept = nullptr;
  // Returns whether MPI_Finalize has begun. Until the first duplicate(), returns true only after
  // its end.
  bool (*is_finalized)() noexcept = nullptr;
  // Writes the text of an error code, with a zero at its end, into `bytes` bytes.
  void (*describe)(int error, char* text, std::size_t bytes) noexcept = nullptr;

  ThreadLevel (*thread_level)() noexcept = nullptr;
  // Returns whether the calling thread is the one that initialised MPI.
  bool (*is_main_thread)() noexcept = nullptr;

  // Initialises MPI for a program that knows no MPI, at ThreadLevel::kMultiple or what MPI can do.
  int (*initialize)() noexcept = nullptr;
  int (*finalize)() noexcept = nullptr;
  Handle (*world)() noexcept = nullptr;  // MPI_COMM_WORLD.

  // Returns an error for MPI_COMM_NULL and for an intercommunicator.
  int (*place)(Handle comm, int& rank, int& world_size) noexcept = nullptr;
  int (*largest_tag)(int& tag) noexcept = nullptr;
  // All ranks of `comm` must call it. Writes to `duplicate` until test() reports the end.
  int (*duplicate)(Handle comm, Handle& duplicate, Handle& request) noexcept = nullptr;
  // Lets calls with `comm` return their errors. Otherwise MPI may end the program.
  int (*return_errors)(Handle comm) noexcept = nullptr;
  int (*free)(Handle comm) noexcept = nullptr;

  int (*send)(const void* data, int bytes, int peer, int tag, Handle comm,
              Handle& request) noexcept = nullptr;
  int (*receive)(void* data, int bytes, int peer, int tag, Handle comm,
                 Handle& request) noexcept = nullptr;
  // If the operation has ended, or if it has failed, frees the request. Sets `is_done`.
  int (*test)(Handle& request, bool& is_done) noexcept = nullptr;
  // Asks for the end of a receive that is under way. Only test() tells whether it has ended.
  int (*cancel)(Handle& request) noexcept = nullptr;

  int (*barrier)(Handle comm, Handle& request) noexcept = nullptr;
  int (*broadcast)(void* values, int count, DataType type, int root, Handle comm,
                   Handle& request) noexcept = nullptr;
  // `op` is neither kMean nor a bitwise operation of floats; `type` is none of 16-bit floats.
  int (*all_reduce)(const void* input, void* values, int count, DataType type, ReduceOp op,
                    Handle comm, Handle& request) noexcept = nullptr;
  int (*reduce)(const void* input, void* values, int count, DataType type, ReduceOp op, int root,
                Handle comm, Handle& request) noexcept = nullptr;
  int (*all_gather)(const void* input, void* values, int part_count, DataType type, Handle comm,
                    Handle& request) noexcept = nullptr;
};

// <rota/mpi.h> describes these two functions, and calls them with the table of the program's MPI.
// The table must exist until the process ends.
ROTA_EXPORT Communicator communicator_over(const Calls& calls, Handle comm,
                                           const CommunicatorOptions& options);
ROTA_EXPORT std::vector<Communicator> communicators_over(const Calls& calls, Handle comm,
                                                         std::size_t count,
                                                         const CommunicatorOptions& options);

}  // namespace rota::mpi
