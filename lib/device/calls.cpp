// Keeps the table of functions for devices, and the first fault of a device.
#include "device/calls.h"

#include <array>
#include <atomic>
#include <mutex>

#include <rota/error.h>

#include "device/begin.h"
#include "os/origin.h"

namespace rota {
namespace {

std::atomic<const cuda::Calls*> used_calls{nullptr};
std::atomic<bool> has_begun{false};  // A function of the table may have been called.

// The call that saw a fault first. A fault ends the use of all devices of the process.
std::mutex first_fault_mutex;
std::string first_fault;

// Returns the process that was the first to ask for a function of the table.
const os::Origin& first_process() {
  static const os::Origin kProcess;
  return kProcess;
}

bool is_forked_late() {
  return has_begun.load(std::memory_order_relaxed) && !first_process().is_here();
}

// Returns whether CUDA gives this error from now on, whatever is called.
bool is_fault(int error) noexcept {
  constexpr std::array kFaults{214, 220, 226, 700, 702, 709, 710, 714, 715,
                               716, 717, 718, 719, 721, 810, 911, 999};
  for (const int fault : kFaults) {
    if (error == fault) return true;
  }
  return false;
}

// Returns whether CUDA has refused a call because a stream is captured.
bool tells_of_capture(int error) noexcept { return error >= 900 && error <= 908; }

// Returns a clause about the call that saw a fault before `what` did; empty if there is none.
std::string fault_before(const std::string& what) {
  const std::scoped_lock lock(first_fault_mutex);
  if (first_fault.empty()) first_fault = what;
  return first_fault == what ? "" : "; the fault was first seen in " + first_fault;
}

}  // namespace

namespace cuda {

void use(const Calls& calls) {
  device::require_version(calls);
  {
    const std::scoped_lock lock(first_fault_mutex);
    first_fault.clear();
  }
  used_calls.store(&calls, std::memory_order_release);
  device::forget_uses();
}

}  // namespace cuda

namespace device {

const cuda::Calls* calls_in_use() noexcept {
  if (is_forked_late()) return nullptr;
  return used_calls.load(std::memory_order_acquire);
}

const cuda::Calls& calls() {
  if (const cuda::Calls* used = calls_in_use()) {
    static_cast<void>(first_process());
    has_begun.store(true, std::memory_order_relaxed);
    return *used;
  }
  if (is_forked_late()) {
    throw Error(ErrorCode::kInvalidArgument,
                "this process was forked after its parent had begun to use devices, and CUDA does "
                "not work in such a process: fork before the first use of a device, or start a "
                "program");
  }
  throw Error(ErrorCode::kInvalidArgument,
              "this program has no library for devices: no table was given to rota::cuda::use()");
}

void require_version(const cuda::Calls& calls) {
  if (calls.version == cuda::Calls::kVersion) return;
  throw Error(ErrorCode::kInvalidArgument,
              "the library for CUDA has a table of version " + std::to_string(calls.version) +
                  ", but this rota needs version " + std::to_string(cuda::Calls::kVersion) +
                  ": install both from one release of rota");
}

std::string text_of(const cuda::Calls& calls, int error) {
  std::array<char, 256> text{};
  calls.describe(error, text.data(), text.size());
  return text.data();
}

std::string text_of(int error) {
  return text_of(calls(), error) + " (CUDA error " + std::to_string(error) + ")";
}

namespace {

[[noreturn]] void fail(const std::string& where, std::string_view what, int error) {
  throw Error(ErrorCode::kSystem, where + std::string(what) + " failed: " + text_of(error) +
                                      (is_fault(error) ? fault_before(std::string(what)) : ""));
}

}  // namespace

void check(int error, std::string_view what) {
  if (error != 0) fail("", what, error);
}

void check(int error, std::uint8_t device, std::string_view what) {
  if (error != 0) fail("device " + std::to_string(device) + ": ", what, error);
}

void check_stream(int error, std::uint8_t device, std::string_view what) {
  if (error == 0) return;
  if (is_fault(error)) check(error, device, what);
  if (tells_of_capture(error)) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string(what) +
                    " cannot be used while the program captures a CUDA graph, since no call of "
                    "rota can be part of a graph: call rota before the capture or after it: " +
                    text_of(error));
  }
  throw Error(ErrorCode::kInvalidArgument, std::string(what) + " is not a stream of device " +
                                               std::to_string(device) +
                                               ", or was destroyed too early: " + text_of(error));
}

}  // namespace device
}  // namespace rota
