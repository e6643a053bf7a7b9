// What the files of the fake device use of each other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include <rota/cuda_calls.h>

#include "testing/fake_device.h"

namespace rota::testing {

// The memory that work on streams can use.
class FakeMemory {
 public:
  // Returns where the device accesses `bytes` bytes of an address. If they are not there, notes a
  // crime of `what`, such as "an addition", and returns null.
  virtual std::byte* reach(const void* address, std::size_t bytes, const char* what) = 0;

 protected:
  ~FakeMemory() = default;
};

// Puts a kernel on a stream. Counts as FakeCall::kKernel.
using FakeKernel = std::function<void(FakeMemory&)>;
int add_fake_kernel(const cuda::On& on, FakeKernel kernel);

// A run of memory that work on streams may use.
struct FakeRun {
  std::size_t bytes = 0;
  std::byte* inside = nullptr;  // Where the device accesses it.
  int device = -1;              // -1: pinned memory of the host.
  int file = -1;                // The descriptor of an allocation of a device.
  bool is_free = false;         // Given back. Only with reuses_addresses are they used again.
  bool is_foreign = false;      // See add_foreign_run().
  std::uint64_t number = 0;     // Of an allocation of a device.
  // The allocation of this process that this run is another view of. 0: of another process, or
  // none.
  std::uint64_t view_of = 0;
};

// Waits until no stream has work, if pinned memory comes and goes only then.
void wait_to_pin() noexcept;

// Lets devices use memory that other functions own, until it is taken back. Counts as `call`.
int add_foreign_run(FakeCall call, void* address, const FakeRun& run);
int take_back_from_fake(void* address, FakeRun& run);
// Finds the run that an address belongs to, and where it starts. Counts as `call`.
int find_in_fake(FakeCall call, const void* address, void*& start, FakeRun& run);

// Fill their functions of the table.
void add_arithmetic(cuda::Calls& calls);
void add_codings(cuda::Calls& calls);
void add_graphs(cuda::Calls& calls);
void add_models(cuda::Calls& calls);
void add_sharing(cuda::Calls& calls);

}  // namespace rota::testing
