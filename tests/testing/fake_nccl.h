// A NCCL that works over the fake device: a small library with NCCL's own functions, which
// librota_nccl.so opens as it opens the real one. Ranks may be threads of a process, or processes
// of one machine. It adds in the order of ranks. There is one library for each version that it
// plays.
#pragma once
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

#include <rota/nccl_calls.h>

namespace rota::testing {

// What the library uses of the fake device of its process.
struct DeviceForNccl {
  int (*add_work)(std::uintptr_t stream, std::function<bool()> may_start,
                  std::function<void()> work) = nullptr;
  std::byte* (*reach)(const void* address, std::size_t bytes) = nullptr;
  std::uint8_t (*current_device)() = nullptr;
  std::uint64_t (*number_at)(const void* address) = nullptr;
};

// How the library behaves. Operations are counted in each communicator, from 1. In a process whose
// environment has FAKE_NCCL, such as "stuck_at=3 abort_hangs=1", that is the beginning.
struct NcclManner {
  int version = 0;            // 0: the library's own.
  int busy_polls = 1;         // So often a call is still in progress when it is asked for.
  int create_fails_with = 0;  // An error code, at once.
  bool refuses_shared_devices = false;
  std::uint64_t stuck_at = 0;  // This operation never ends.
  int fails_on = -1;           // On this rank, …
  std::uint64_t fails_at = 0;  // … from this operation on, …
  int fails_with = 0;          // … an asynchronous error is reported.
  bool hears_of_ends = false;  // The end of a rank's process is reported as a remote error.
  bool abort_hangs = false;
  bool destroy_hangs = false;
  bool finalize_hangs = false;
  int register_fails_with = 0;       // An error code.
  bool declines_memory = false;      // Memory that is registered gets no handle.
  bool swallows_mismatches = false;  // Different calls end, with any values. Otherwise they hang.
};

// What has been called in this process.
struct NcclCounts {
  std::atomic<int> created{0};
  std::atomic<int> destroyed{0};
  std::atomic<int> aborted{0};
  std::atomic<int> revoked{0};
  std::atomic<int> operations{0};
  std::atomic<int> groups{0};
  std::atomic<int> registered{0};  // So often memory was registered, …
  std::atomic<int> deregistered{0};
  std::atomic<int> zero_copy{0};  // Operations with all of their buffers in registered memory.
  // Calls that NCCL does not allow: most often, one while it is busy.
  std::atomic<int> crimes{0};
};

// What the library exports besides NCCL's functions.
struct NcclInside {
  const DeviceForNccl* device = nullptr;
  NcclManner manner;
  NcclCounts counts;
};

// Opens the library that plays a version, and makes rota use it. The library stays open.
class FakeNccl {
 public:
  // `folder`: such as "2.28", see CMakeLists.txt. A FakeDevice must exist while communicators do.
  explicit FakeNccl(const std::string& folder = "2.28", const NcclManner& manner = {});

  NcclManner& manner() noexcept { return inside_->manner; }
  const NcclCounts& counts() const noexcept { return inside_->counts; }
  const nccl::Calls& calls() const noexcept { return *calls_; }

  static std::string path_of(const std::string& folder);

 private:
  NcclInside* inside_ = nullptr;
  const nccl::Calls* calls_ = nullptr;
};

// Attaches a library to the fake device of this process.
NcclInside* attach_fake_nccl(const std::string& path);

}  // namespace rota::testing
