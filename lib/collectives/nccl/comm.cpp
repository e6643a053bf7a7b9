// Calls NCCL, and watches the calls that end a communicator: they have hung in programs of others.
#include "collectives/nccl/comm.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include <rota/error.h>

#include "base/time.h"
#include "collectives/nccl/calls.h"
#include "collectives/nccl/end_guard.h"
#include "device/current.h"

namespace rota::collectives::nccl {
namespace {

using rota::nccl::kInProgress;
using std::chrono::seconds;

constexpr seconds kLongestAbort{10};
constexpr seconds kLeastAbort{1};
// How long a communicator without operations may flush. What it flushes takes milliseconds.
constexpr seconds kLongestFlush{2};
constexpr seconds kLongestIdling{1};
constexpr std::chrono::microseconds kAskEvery{100};

constexpr std::string_view kCreation = "creation of a communicator";
constexpr std::string_view kRegistration = "registration of memory for ";

template <class IsOver>
bool becomes_true(base::Duration within, IsOver is_over) {
  const auto deadline = base::Clock::now() + within;
  while (!is_over()) {
    if (base::Clock::now() > deadline) return false;
    std::this_thread::sleep_for(kAskEvery);
  }
  return true;
}

bool is_accepted(int error) noexcept { return error == 0 || error == kInProgress; }

std::string on_device(std::uint8_t device) { return "device " + std::to_string(device); }

// Returns what to do about a refused call. Most often two ranks use one device.
std::string advice_for(const rota::nccl::Calls& calls) {
  if (calls.shares_devices) {
    return "; several ranks on one device need NCCL_MULTI_RANK_GPU_ENABLE=1";
  }
  return "; " + name_of(calls) +
         " cannot put several ranks on one device: give each rank its own, or take plan auto";
}

}  // namespace

Comm::Comm(const rota::nccl::Calls& calls, CommSetup setup)
    : calls_(calls), setup_(std::move(setup)), registrations_(calls) {}

Comm::~Comm() {
  if (stream_ && !is_stopped_) {
    try {
      end_in_order();
    } catch (const std::exception&) {
      stop(false);
    }
  }
  device::give_back_kept();
  if (!is_loose_) return;
  registrations_.keep_for_ever();
  static_cast<void>(stream_.release());  // A stream with work must not be destroyed.
  static_cast<void>(ended_.release());
}

bool Comm::is_ready(std::uint8_t device, std::string_view call) {
  if (!stream_) create(device);
  if (device != device_) {
    throw Error(ErrorCode::kInvalidArgument,
                "a communicator of NCCL works on one device of each rank: this one has " +
                    on_device(device_) + ", but the values are on " + on_device(device) +
                    ": make another communicator for them with split()");
  }
  int state = 0;
  check(calls_.get_state(handle_, state), call);
  check(state, is_created_ ? call : kCreation);
  is_created_ |= state == 0;
  return state == 0;
}

void Comm::create(std::uint8_t device) {
  const device::Current current(device);
  ended_ = std::make_unique<device::Event>(device);
  auto stream = std::make_unique<device::Stream>(device);
  device_ = device;
  const int error = calls_.create(setup_.id, setup_.rank, setup_.world_size, handle_);
  // A creation that fails may leave a communicator, which is ended with the stream.
  if (is_accepted(error) || handle_ != 0) stream_ = std::move(stream);
  check(error, kCreation);
}

void Comm::check(int error, std::string_view call) const {
  if (is_accepted(error)) return;
  std::array<char, 512> text{};
  calls_.describe(error, handle_, text.data(), text.size());
  const bool is_remote = error == rota::nccl::kRemoteError;
  throw Error(is_remote ? ErrorCode::kPeerLost : ErrorCode::kSystem,
              "NCCL's " + std::string(call) + " failed on " + on_device(device_) + ": " +
                  text.data() + " (NCCL error " + std::to_string(error) + ")" +
                  (error == rota::nccl::kInvalidUsage ? advice_for(calls_) : ""));
}

// An error is told to all ranks, because they may have registered their memory: see NCCL's rule in
// CommunicatorOptions::registers_buffers.
void Comm::register_memory(const void* address, std::string_view call) {
  if (!setup_.registers || !calls_.register_memory) return;
  const int error = registrations_.add(handle_, address);
  if (error != 0) check(error, std::string(kRegistration) + std::string(call));
}

void Comm::deregister_unused() noexcept { registrations_.end_unused(handle_); }

bool Comm::has_ended(std::string_view call) const {
  int state = 0;
  check(calls_.get_state(handle_, state), call);
  check(state, call);
  return ended_->has_happened();
}

base::Duration Comm::longest_end() const noexcept {
  return std::clamp<base::Duration>(setup_.deadline, kLeastAbort, kLongestAbort);
}

// Returns what is said before the process ends. `verb` says what NCCL was asked to do.
std::string Comm::text_of_end(const char* verb, base::Duration longest) const {
  return "rota: " + setup_.who + ": NCCL did not " + verb + " its communicator on " +
         on_device(device_) + " within " + base::to_text(longest) +
         ": this process ends, because it would hang\n";
}

bool Comm::settles_within(base::Duration longest) const {
  int state = kInProgress;
  const bool is_over = becomes_true(
      longest, [&] { return calls_.get_state(handle_, state) != 0 || state != kInProgress; });
  return is_over && state == 0;
}

bool Comm::is_idle_within(base::Duration longest) {
  record();
  return becomes_true(longest, [&] { return ended_->has_happened(); });
}

// All operations have ended on this rank, but others may still need what this rank has sent.
void Comm::end_in_order() {
  const device::Current current(device_);
  {
    const base::Duration longest = kLongestFlush + longest_end();
    const EndGuard guard(longest, text_of_end("destroy", longest));
    registrations_.end_all(handle_);
    if (is_accepted(calls_.finalize(handle_)) && settles_within(kLongestFlush)) {
      calls_.destroy(std::exchange(handle_, 0));
      return;
    }
  }
  stop(false);
}

// One deadline holds for all of it, so a revocation has half of that time.
void Comm::abort(bool may_revoke) {
  const device::Current current(device_);
  const EndGuard guard(longest_end(), text_of_end("abort", longest_end()));
  const bool is_revoked = may_revoke && calls_.revoke && is_accepted(calls_.revoke(handle_));
  if (is_revoked && settles_within(longest_end() / 2)) {
    registrations_.end_all(handle_);
    calls_.destroy(std::exchange(handle_, 0));
  } else {
    calls_.abort(std::exchange(handle_, 0));
  }
}

void Comm::stop(bool may_revoke) noexcept {
  if (std::exchange(is_stopped_, true) || !stream_) return;
  is_loose_ = true;
  try {
    abort(may_revoke);
    is_loose_ = !is_idle_within(kLongestIdling);
  } catch (const std::exception&) {
    // A device that has faulted does not tell what it still does. Without another thread, an abort
    // could hang.
  }
}

}  // namespace rota::collectives::nccl
