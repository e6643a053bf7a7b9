// Fills the table of functions for devices with functions that work on memory of the test.
#include "testing/fake_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "device/calls.h"
#include "testing/fake_inside.h"
#include "testing/fake_search.h"
#include "testing/fake_state.h"

namespace rota::testing {
namespace {

using cuda::Calls;
using cuda::Handle;
using cuda::On;
using State = FakeDevice::State;

constexpr int kInvalid = kFakeInvalid;
constexpr int kNoRoom = kFakeNoRoom;
constexpr int kFaulted = kFakeFaulted;
constexpr std::size_t kPieceBytes = kFakePieceBytes;

std::atomic<State*> current{nullptr};
thread_local std::vector<std::uint8_t> entered_devices;  // The last one is the current one.

State& state() { return state_of_fake(); }

void add_memory(Calls& calls) {
  calls.allocate = [](std::uint8_t device, std::size_t bytes, void*& address) noexcept {
    State& own = state();
    const std::scoped_lock lock(own.mutex);
    if (const int error = own.begin(FakeCall::kAllocate); error != 0) return error;
    if (device >= own.used.size()) return kInvalid;
    if (bytes > own.options.room - own.used[device]) return kNoRoom;
    const int file = memfd_create("fake device", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) std::abort();
    void* const again = own.address_again(device, bytes);
    void* outside =
        mmap(again, bytes, PROT_NONE, again ? MAP_SHARED | MAP_FIXED : MAP_SHARED, file, 0);
    void* inside = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (outside == MAP_FAILED || inside == MAP_FAILED) std::abort();
    std::memset(inside, 0xab, bytes);  // What nobody has written is not zero.
    own.used[device] += bytes;
    own.runs[reinterpret_cast<std::uintptr_t>(outside)] = {
        .bytes = bytes,
        .inside = static_cast<std::byte*>(inside),
        .device = device,
        .file = file,
        .number = ++own.last_number};
    address = outside;
    return 0;
  };
  calls.allocate_pinned = [](std::size_t bytes, void*& address) noexcept {
    wait_to_pin();
    State& own = state();
    const std::scoped_lock lock(own.mutex);
    if (const int error = own.begin(FakeCall::kAllocatePinned); error != 0) return error;
    address = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!address) return kNoRoom;
    own.runs[reinterpret_cast<std::uintptr_t>(address)] = {
        .bytes = bytes, .inside = static_cast<std::byte*>(address)};
    return 0;
  };
  const auto free = [](const void* address, bool is_pinned) {
    State& own = state();
    const std::scoped_lock lock(own.mutex);
    own.forbid_capture();
    const auto run = own.runs.find(reinterpret_cast<std::uintptr_t>(address));
    if (run == own.runs.end() || run->second.is_free) return kInvalid;
    if ((run->second.device < 0) != is_pinned) return kInvalid;
    run->second.is_free = true;
    if (is_pinned) return 0;
    close(run->second.file);
    own.gone.insert(run->second.number);
    own.used[static_cast<std::size_t>(run->second.device)] -= run->second.bytes;
    return 0;
  };
  calls.free = [](std::uint8_t, void* address) noexcept {
    return decltype(free){}(address, false);
  };
  calls.free_pinned = [](void* address) noexcept {
    wait_to_pin();
    return decltype(free){}(address, true);
  };
}

void add_addresses(Calls& calls) {
  calls.find_memory = [](const void* address, cuda::Memory& memory, std::uint8_t& device) noexcept {
    if (!current.load()) return kInvalid;  // A table without devices.
    State& own = state();
    const std::scoped_lock lock(own.mutex);
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    memory = cuda::Memory::kHost;
    auto run = own.runs.upper_bound(at);
    if (run == own.runs.begin()) return 0;
    --run;
    if (run->second.is_free || at - run->first >= run->second.bytes) return 0;
    memory = run->second.device < 0 ? cuda::Memory::kPinned : cuda::Memory::kDevice;
    if (run->second.device >= 0) device = static_cast<std::uint8_t>(run->second.device);
    return 0;
  };
}

void add_streams(Calls& calls) {
  calls.make_stream = [](std::uint8_t device, Handle& stream) noexcept {
    State& own = state();
    const std::scoped_lock lock(own.mutex);
    if (const int error = own.begin(FakeCall::kMakeStream); error != 0) return error;
    if (device >= own.used.size()) return kInvalid;
    own.streams[stream = ++own.last_handle] = {.device = device, .work = {}};
    return 0;
  };
  calls.destroy_stream = [](const On& on) noexcept {
    State& own = state();
    const std::scoped_lock lock(own.mutex);
    const auto stream = own.streams.find(on.stream);
    if (stream == own.streams.end()) return kInvalid;
    if ((!stream->second.work.empty() || stream->second.is_captured) && !own.is_faulted)
      own.commit("a stream with work was destroyed");
    own.streams.erase(stream);
    return 0;
  };
  calls.make_event = [](std::uint8_t, Handle& event) noexcept {
    State& own = state();
    const std::scoped_lock lock(own.mutex);
    if (const int error = own.begin(FakeCall::kMakeEvent); error != 0) return error;
    own.events[event = ++own.last_handle] = {};
    return 0;
  };
  calls.destroy_event = [](std::uint8_t, Handle event) noexcept {
    State& own = state();
    const std::scoped_lock lock(own.mutex);
    const auto found = own.events.find(event);
    if (found == own.events.end() || found->second.is_destroyed) return kInvalid;
    found->second.is_destroyed = true;
    return 0;
  };
  calls.record = [](const On& on, Handle handle) noexcept {
    State& own = state();
    const std::scoped_lock lock(own.mutex);
    if (const int error = own.begin(FakeCall::kRecord); error != 0) return error;
    if (!own.event(handle)) return kInvalid;
    return own.add(on, {.piece = {}, .recorded = handle});
  };
  calls.test = [](std::uint8_t, Handle handle, bool& is_done) noexcept {
    State& own = state();
    const std::scoped_lock lock(own.mutex);
    if (const int error = own.begin(FakeCall::kTest); error != 0) return error;
    const FakeEvent* event = own.event(handle);
    if (!event) return kInvalid;
    is_done = event->happened == event->recorded;
    return 0;
  };
}

void add_waits(Calls& calls) {
  calls.wait_for = [](const On& on, Handle handle) noexcept {
    State& own = state();
    const std::scoped_lock lock(own.mutex);
    if (const int error = own.begin(FakeCall::kWait); error != 0) return error;
    const FakeEvent* event = own.event(handle);
    if (!event) return kInvalid;
    return own.add(
        on, {.piece = [](State&) { return true; }, .awaited = handle, .version = event->recorded});
  };
  calls.wait_for_word = [](const On& on, const std::uint64_t* word, std::uint64_t number) noexcept {
    State& own = state();
    const std::scoped_lock lock(own.mutex);
    if (const int error = own.begin(FakeCall::kWait); error != 0) return error;
    if (!own.options.waits_for_words) return device::kNotSupported;
    if (!own.inside(word, sizeof(*word))) return kInvalid;
    return own.add(on, {.piece = [](State&) { return true; }, .version = number, .word = word});
  };
}

void add_copies(Calls& calls) {
  calls.copy = [](const On& on, void* to, const void* from, std::size_t bytes) noexcept {
    State& own = state();
    const std::scoped_lock lock(own.mutex);
    if (const int error = own.begin(FakeCall::kCopy); error != 0) return error;
    if (!own.inside(to, bytes) || !own.inside(from, bytes)) return kInvalid;
    return own.add(on, {.piece = [=, done = std::size_t{0}](State& all) mutable {
                     const std::size_t most = std::min(kPieceBytes, bytes - done);
                     const std::size_t now = most == 0 ? 0 : 1 + all.random() % most;
                     const auto* source = static_cast<const std::byte*>(from) + done;
                     std::byte* into = all.reach(static_cast<std::byte*>(to) + done, now, "a copy");
                     const std::byte* out_of = all.reach(source, now, "a copy");
                     if (!into || !out_of) return true;
                     if (now > 0) std::memcpy(into, out_of, now);
                     done += now;
                     return done == bytes;
                   }});
  };
  calls.clear = [](const On& on, void* at, std::size_t bytes) noexcept {
    State& own = state();
    const std::scoped_lock lock(own.mutex);
    if (const int error = own.begin(FakeCall::kCopy); error != 0) return error;
    return own.add(on, {.piece = [=](State& all) {
                     if (std::byte* own_bytes = all.reach(at, bytes, "a clearing")) {
                       std::memset(own_bytes, 0, bytes);
                     }
                     return true;
                   }});
  };
}

Calls make_calls() {
  Calls calls;
  add_search(calls);
  calls.count_devices = [](int& count) noexcept {
    count = state().options.device_count;
    return 0;
  };
  calls.enter = [](std::uint8_t device) noexcept {
    if (device >= state().used.size()) return kInvalid;
    entered_devices.push_back(device);
    return 0;
  };
  calls.leave = []() noexcept {
    if (entered_devices.empty()) return kInvalid;
    entered_devices.pop_back();
    return 0;
  };
  add_memory(calls);
  add_addresses(calls);
  add_sharing(calls);
  add_streams(calls);
  add_graphs(calls);
  add_waits(calls);
  add_copies(calls);
  add_arithmetic(calls);
  add_codings(calls);
  add_models(calls);
  return calls;
}

}  // namespace

State& state_of_fake() {
  State* now = current.load();
  if (!now) std::abort();
  return *now;
}

int add_fake_kernel(const On& on, FakeKernel kernel) {
  State& own = state();
  const std::scoped_lock lock(own.mutex);
  if (const int error = own.begin(FakeCall::kKernel); error != 0) return error;
  return own.add(on, {.piece = [kernel = std::move(kernel)](State& all) {
                   kernel(all);
                   return true;
                 }});
}

void wait_to_pin() noexcept {
  State& own = state();
  if (!own.options.pins_between_work) return;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (;;) {
    {
      const std::scoped_lock lock(own.mutex);
      const bool is_idle = std::ranges::all_of(
          own.streams, [](const auto& stream) { return stream.second.work.empty(); });
      if (is_idle || own.is_faulted) return;
      if (std::chrono::steady_clock::now() > end) {
        return own.commit("memory is pinned by a thread for which a stream waits");
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

int add_foreign_run(FakeCall call, void* address, const FakeRun& run) {
  State& own = state();
  const std::scoped_lock lock(own.mutex);
  if (const int error = own.begin(call); error != 0) return error;
  if (own.inside(address, 1) || own.gone.contains(run.view_of)) return kInvalid;
  own.runs[reinterpret_cast<std::uintptr_t>(address)] = run;
  return 0;
}

int take_back_from_fake(void* address, FakeRun& run) {
  State& own = state();
  const std::scoped_lock lock(own.mutex);
  const auto found = own.runs.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == own.runs.end() || !found->second.is_foreign) return kInvalid;
  run = found->second;
  own.runs.erase(found);
  return 0;
}

int find_in_fake(FakeCall call, const void* address, void*& start, FakeRun& run) {
  State& own = state();
  const std::scoped_lock lock(own.mutex);
  if (const int error = own.begin(call); error != 0) return error;
  if (!own.inside(address, 1)) return kInvalid;
  const auto found = std::prev(own.runs.upper_bound(reinterpret_cast<std::uintptr_t>(address)));
  start = pointer_to(found->first);
  run = found->second;
  return 0;
}

FakeDevice::FakeDevice(const FakeDeviceOptions& options)
    : state_(std::make_unique<State>(options)) {
  state_->used.resize(static_cast<std::size_t>(options.device_count));
  if (current.exchange(state_.get())) std::abort();
  cuda::use(calls());
  if (options.has_thread) state_->thread = std::thread([this] { state_->work_off(); });
}

FakeDevice::~FakeDevice() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->ends = true;
    state_->has_work.notify_one();
  }
  if (state_->thread.joinable()) state_->thread.join();
  for (const auto& [address, run] : state_->runs) {
    void* outside = pointer_to(address);
    if (run.is_foreign) continue;
    if (run.device < 0) {
      std::free(outside);
    } else {
      munmap(outside, run.bytes);
      munmap(run.inside, run.bytes);
      if (!run.is_free) close(run.file);
    }
  }
  current = nullptr;
}

const Calls& FakeDevice::calls() {
  static const Calls kCalls = make_calls();
  return kCalls;
}

bool FakeDevice::work() {
  const std::scoped_lock lock(state_->mutex);
  return state_->work();
}

void FakeDevice::hold() {
  const std::scoped_lock lock(state_->mutex);
  state_->is_held = true;
}

void FakeDevice::release() {
  const std::scoped_lock lock(state_->mutex);
  state_->is_held = false;
}

void FakeDevice::fail(FakeCall call, std::size_t others) {
  const std::scoped_lock lock(state_->mutex);
  state_->fails_in[static_cast<std::size_t>(call)] = static_cast<std::ptrdiff_t>(others) + 1;
}

void FakeDevice::fault() {
  const std::scoped_lock lock(state_->mutex);
  state_->faults_next = true;
}

void FakeDevice::capture(const void* stream) {
  const std::scoped_lock lock(state_->mutex);
  state_->streams.at(reinterpret_cast<Handle>(stream)).is_programs = true;
}

void FakeDevice::let_go(const void* stream) {
  const std::scoped_lock lock(state_->mutex);
  state_->streams.at(reinterpret_cast<Handle>(stream)).is_programs = false;
}

std::size_t FakeDevice::count(FakeCall call) const {
  const std::scoped_lock lock(state_->mutex);
  return state_->counts[static_cast<std::size_t>(call)];
}

std::size_t FakeDevice::bytes_across_the_bus() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->crossed;
}

std::string FakeDevice::crime() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->crime;
}

int FakeDevice::add_work(cuda::Handle stream, std::function<bool()> may_start,
                         std::function<void()> work) {
  State& own = state_of_fake();
  const std::scoped_lock lock(own.mutex);
  if (own.is_faulted) return kFaulted;
  const auto found = own.streams.find(stream);
  if (found == own.streams.end()) return kInvalid;
  FakeWork added{.piece =
                     [does = std::move(work)](State&) {
                       does();
                       return true;
                     },
                 .may_start = std::move(may_start)};
  return own.add({.device = found->second.device, .stream = stream}, std::move(added));
}

std::byte* FakeDevice::reach(const void* address, std::size_t bytes) {
  return state_of_fake().reach(address, bytes, "a collective of NCCL");
}

std::uint64_t FakeDevice::number_at(const void* address) {
  State& own = rota::testing::state();
  const std::scoped_lock lock(own.mutex);
  if (!own.inside(address, 1)) return 0;
  return std::prev(own.runs.upper_bound(reinterpret_cast<std::uintptr_t>(address)))->second.number;
}

std::uint8_t FakeDevice::current_device() {
  return entered_devices.empty() ? 0 : entered_devices.back();
}

std::size_t FakeDevice::open_things() const {
  const std::scoped_lock lock(state_->mutex);
  const auto kept =
      std::ranges::count_if(state_->runs, [](const auto& run) { return !run.second.is_free; });
  const auto events = std::ranges::count_if(
      state_->events, [](const auto& event) { return !event.second.is_destroyed; });
  return static_cast<std::size_t>(kept + events) + state_->streams.size() + state_->graphs.size();
}

void* FakeDevice::inside(const void* address) const {
  const std::scoped_lock lock(state_->mutex);
  std::byte* found = state_->inside(address, 1);
  if (!found) std::abort();
  return found;
}

}  // namespace rota::testing
