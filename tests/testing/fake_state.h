// What the fake device remembers: its memory, streams and events, and what has gone wrong. One lock
// guards all devices. A piece of work holds it, so work looks late but never torn.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <rota/cuda_calls.h>

#include "testing/fake_device.h"
#include "testing/fake_inside.h"
#include "testing/fake_search.h"

namespace rota::testing {

// A copy does at most so many bytes at a time.
inline constexpr std::size_t kFakePieceBytes = 16 * 1024;

inline void* pointer_to(std::uintptr_t address) noexcept {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

struct FakeEvent {
  std::uint64_t recorded = 0;
  std::uint64_t happened = 0;
  bool is_destroyed = false;  // Streams may still wait for it.
};

// Returns true when it is done; false if there is more to do.
using FakePiece = std::function<bool(FakeDevice::State&)>;

struct FakeWork {
  FakePiece piece;
  cuda::Handle awaited = 0;  // The event that must have happened first, and its version.
  std::uint64_t version = 0;
  const std::uint64_t* word = nullptr;  // The word that must have come to `version` first.
  std::function<bool()> may_start{};    // Null: it may.
  cuda::Handle recorded = 0;            // The event that this work records. It has no piece yet.

  bool waits() const { return awaited != 0 || word != nullptr || may_start; }
};

struct FakeStream {
  std::uint8_t device = 0;
  std::deque<FakeWork> work;
  bool is_captured = false;
  bool is_programs = false;          // The program captures it, and not rota.
  std::thread::id capturer{};        // The thread that captures.
  std::vector<FakeWork> captured{};  // Becomes a graph.
};

struct FakeGraph {
  std::uint8_t device = 0;
  std::vector<FakeWork> work;
  std::size_t under_way = 0;  // Launches.
};

struct FakeDevice::State final : FakeMemory {
  explicit State(const FakeDeviceOptions& given) : options(given), random(given.seed) {}

  mutable std::mutex mutex;
  std::condition_variable has_work;
  FakeDeviceOptions options;
  std::mt19937_64 random;
  std::map<std::uintptr_t, FakeRun> runs;  // By address.
  std::set<std::uint64_t> gone;            // The numbers of runs that were given back.
  std::uint64_t last_number = 0;
  std::map<cuda::Handle, FakeStream> streams;
  std::map<cuda::Handle, FakeEvent> events;
  std::map<cuda::Handle, FakeGraph> graphs;
  cuda::Handle last_handle = 0;
  std::vector<std::size_t> used;  // Bytes of each device.
  std::size_t crossed = 0;        // Bytes of pinned memory that work has used.
  std::array<std::ptrdiff_t, kFakeCalls> fails_in{};
  std::array<std::size_t, kFakeCalls> counts{};
  std::string crime;
  bool faults_next = false;
  bool is_faulted = false;
  bool is_held = false;
  bool ends = false;
  std::thread thread;

  // Counts a call. Returns its error, 0 for none.
  int begin(FakeCall call) {
    ++counts[static_cast<std::size_t>(call)];
    if (is_unsafe(call)) forbid_capture();
    if (is_faulted) return kFakeFaulted;
    std::ptrdiff_t& left = fails_in[static_cast<std::size_t>(call)];
    if (left == 0) return 0;
    if (--left > 0) return 0;
    return call <= FakeCall::kAllocatePinned ? kFakeNoRoom : kFakeInvalid;
  }

  // Returns whether a thread that captures must not make such calls.
  static bool is_unsafe(FakeCall call) {
    return call == FakeCall::kAllocate || call == FakeCall::kAllocatePinned ||
           call == FakeCall::kTest || call == FakeCall::kPin || call == FakeCall::kOpen;
  }
  // Notes a crime if the calling thread captures a stream.
  void forbid_capture() {
    for (const auto& [handle, stream] : streams) {
      if (stream.is_captured && stream.capturer == std::this_thread::get_id()) {
        commit("memory or an event is used in a way that a capture forbids");
      }
    }
  }

  void commit(const std::string& text) {
    if (crime.empty()) crime = text;
    is_faulted = true;
  }

  // Returns where the device accesses bytes, or null. `device` -1: any.
  std::byte* inside(const void* address, std::size_t bytes) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    auto run = runs.upper_bound(at);
    if (run == runs.begin()) return nullptr;
    --run;
    const std::size_t offset = at - run->first;
    if (offset > run->second.bytes || bytes > run->second.bytes - offset) return nullptr;
    if (run->second.is_free || gone.contains(run->second.view_of)) return nullptr;
    return run->second.inside + offset;
  }

  // Returns the same for work on a stream. If the bytes are not there, notes a crime.
  std::byte* look(const void* address, std::size_t bytes, const char* what) {
    std::byte* found = inside(address, bytes);
    if (!found) commit(std::string(what) + " uses memory that is not there, or not any more");
    return found;
  }

  // Also counts bytes of pinned memory: they cross the bus.
  std::byte* reach(const void* address, std::size_t bytes, const char* what) override {
    std::byte* found = look(address, bytes, what);
    if (!found) return nullptr;
    const auto run = std::prev(runs.upper_bound(reinterpret_cast<std::uintptr_t>(address)));
    if (run->second.device < 0) crossed += bytes;
    return found;
  }

  // Returns an address of memory that was given back, or null.
  void* address_again(int device, std::size_t bytes) {
    if (!options.reuses_addresses) return nullptr;
    for (auto& [address, run] : runs) {
      if (!run.is_free || run.device < 0 || run.bytes != bytes) continue;
      if (run.device != device && !options.moves_addresses) continue;
      munmap(run.inside, run.bytes);
      return pointer_to(address);
    }
    return nullptr;
  }

  bool may_run(const FakeStream& stream) {
    if (stream.work.empty()) return false;
    const FakeWork& first = stream.work.front();
    if (first.may_start && !first.may_start()) return false;
    if (first.word) return has_come(first.word, first.version);
    return first.awaited == 0 || events.at(first.awaited).happened >= first.version;
  }

  bool has_come(const std::uint64_t* word, std::uint64_t number) {
    auto* own = reinterpret_cast<std::uint64_t*>(look(word, sizeof(*word), "a wait for a word"));
    if (!own) return false;
    const std::uint64_t now = std::atomic_ref(*own).load(std::memory_order_acquire);
    return static_cast<std::int64_t>(now - number) >= 0;
  }

  // Returns null if there is no such event any more.
  FakeEvent* event(cuda::Handle handle) {
    const auto found = events.find(handle);
    return found == events.end() || found->second.is_destroyed ? nullptr : &found->second;
  }

  bool work() {
    if (is_held || is_faulted) return false;
    std::vector<FakeStream*> ready;
    for (auto& [handle, stream] : streams) {
      if (may_run(stream)) ready.push_back(&stream);
    }
    if (ready.empty()) return false;
    FakeStream& stream = *ready[random() % ready.size()];
    if (faults_next) {
      faults_next = false;
      is_faulted = true;
      return false;
    }
    if (stream.work.front().piece(*this)) stream.work.pop_front();
    return true;
  }

  int add(const cuda::On& on, FakeWork work) {
    const auto stream = streams.find(on.stream);
    if (stream == streams.end() || stream->second.device != on.device) return kFakeNoStream;
    if (stream->second.is_programs) return kFakeCaptured;
    if (stream->second.is_captured) return capture(stream->second, std::move(work));
    put(stream->second, std::move(work));
    return 0;
  }

  void put(FakeStream& stream, FakeWork work) {
    if (work.recorded != 0) {
      const std::uint64_t version = ++events.at(work.recorded).recorded;
      work.piece = [handle = work.recorded, version](State& all) {
        all.events.at(handle).happened = version;
        return true;
      };
    }
    stream.work.push_back(std::move(work));
    has_work.notify_one();
  }

  int capture(FakeStream& stream, FakeWork work) {
    if (stream.capturer != std::this_thread::get_id() || work.waits()) {
      commit("work that cannot be captured is put on a captured stream");
      return kFakeInvalid;
    }
    stream.captured.push_back(std::move(work));
    return 0;
  }

  void work_off() {
    std::unique_lock lock(mutex);
    while (!ends) {
      if (!work()) {
        has_work.wait_for(lock, std::chrono::milliseconds(1));
        continue;
      }
      lock.unlock();
      if (options.bytes_a_millisecond != ~std::size_t{0}) {
        std::this_thread::sleep_for(std::chrono::microseconds(
            1000 * kFakePieceBytes / std::max<std::size_t>(1, options.bytes_a_millisecond)));
      }
      lock.lock();
    }
  }
};

// Returns the state of the object that exists. Ends the process if none does.
FakeDevice::State& state_of_fake();

}  // namespace rota::testing
