// Asks the table of functions about devices, and opens the library that fills it.
#include "device/begin.h"

#include <dlfcn.h>
#include <rota/devices.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include <rota/error.h>

#include "device/calls.h"
#include "device/claims.h"
#include "device/environment.h"
#include "device/search.h"

namespace rota {
namespace device {
namespace {

std::mutex mutex_of_uses;
std::array<std::atomic<bool>, 256> is_used{};  // Index = number of the device.

Search search_by(const cuda::Calls& calls) {
  Search search{.cuda = calls.cuda_version, .visible = visible_devices()};
  // A driver that is too old leaves the count as it was.
  search.error = calls.count_devices(search.count);
  if (search.error == 0) return search;
  search.text = text_of(calls, search.error);
  static_cast<void>(calls.find_driver(search.driver));
  return search;
}

void require_kernels(const cuda::Calls& calls, std::uint8_t device,
                     const cuda::DeviceFacts& facts) {
  const int error = calls.load_kernels(device);
  if (error == 0) return;
  int driver = 0;
  static_cast<void>(calls.find_driver(driver));
  throw Error(ErrorCode::kSystem, why_no_kernels(device, facts, error, text_of(calls, error),
                                                 driver, calls.cuda_version));
}

}  // namespace

std::size_t search(const cuda::Calls& calls) {
  const Search found = search_by(calls);
  if (const std::string why = why_none(found); !why.empty()) {
    throw Error(ErrorCode::kSystem, why);
  }
  return static_cast<std::size_t>(found.count);
}

void begin_use(std::uint8_t device) {
  if (is_used[device].load(std::memory_order_acquire)) return;
  const std::scoped_lock lock(mutex_of_uses);
  if (is_used[device].load(std::memory_order_relaxed)) return;
  const std::size_t count = search(calls());
  if (device >= count) {
    throw Error(ErrorCode::kInvalidArgument,
                why_not_there(device, static_cast<int>(count), visible_devices()));
  }
  cuda::DeviceFacts facts;
  check(calls().describe_device(device, facts), device, "the search for its name");
  claim(device, facts.name, facts.id);
  try {
    require_kernels(calls(), device, facts);
  } catch (...) {
    give_up_claim();
    throw;
  }
  is_used[device].store(true, std::memory_order_release);
}

void forget_uses() noexcept {
  for (auto& each : is_used) each.store(false, std::memory_order_release);
}

}  // namespace device

std::size_t cuda::use_devices(const Calls& calls) {
  if (device::calls_in_use() == &calls) return device::search(calls);
  device::require_version(calls);
  const std::size_t count = device::search(calls);
  use(calls);
  return count;
}

std::size_t open_devices() {
  const std::string path = device::library_name();
  // It is never closed: CUDA has threads.
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = ::dlerror();
    throw Error(ErrorCode::kSystem,
                "rota's library for GPUs cannot be opened (" +
                    std::string(why ? why : "the reason is unknown") +
                    "): install the component cuda of rota, or set ROTA_CUDA_LIBRARY to its path");
  }
  using Function = const cuda::Calls* (*)() noexcept;
  const auto table = reinterpret_cast<Function>(::dlsym(library, "rota_calls_of_cuda"));
  if (!table) {
    throw Error(ErrorCode::kInvalidArgument, path + " is not rota's library for GPUs");
  }
  return cuda::use_devices(*table());
}

}  // namespace rota
