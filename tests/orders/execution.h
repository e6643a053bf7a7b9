// The C++ memory model, for the executions of one small program. An execution is a set of events:
// the atomic accesses and the fences that threads have made so far, which store each load has read,
// and the order of the stores to each place. The execution knows what the next access may do.
//
// The events are those of C++20: [intro.races] and [atomics.order]. One thing is left out: no load
// reads a store that follows from it, directly or by way of other threads ("load buffering"). C++
// allows it if neither the load acquires nor the store releases, and the value of the store does
// not depend on the load. buffers_loads() says whether an execution has such a pair.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace rota::orders {

inline constexpr std::size_t kMostThreads = 6;

// Index = thread: the number of this thread's events that are known. Events are numbered from 1.
using Clock = std::array<std::uint16_t, kMostThreads>;

inline void join(Clock& clock, const Clock& other) noexcept {
  for (std::size_t i = 0; i < kMostThreads; ++i) clock[i] = std::max(clock[i], other[i]);
}

// The rules of the model. A test breaks each of them, and sees that a litmus test notices.
struct Rules {
  // What threads learn of each other.
  bool acquire_learns = true;         // An acquire load learns what the release store knew.
  bool relaxed_is_silent = true;      // A relaxed access alone passes on nothing.
  bool modify_passes_on = true;       // A read-modify-write passes on what its source passes on.
  bool only_modify_passes_on = true;  // A store passes on nothing of the store before it.
  bool release_fence = true;          // A relaxed store behind it passes on what it knew.
  bool acquire_fence = true;          // It learns what relaxed loads before it have read.
  // Coherence: the order of the stores to one place.
  bool loads_keep_the_read = true;      // No load reads an older store than one that was read.
  bool loads_keep_the_known = true;     // No load reads an older store than one that is known.
  bool stores_follow_the_read = true;   // A store comes after each store that was read.
  bool stores_follow_the_known = true;  // A store comes after each store that is known.
  bool modify_is_one = true;            // A read-modify-write comes next after its source.
  // The one order of everything that is sequentially consistent.
  bool accesses_have_one_order = true;
  bool fences_have_one_order = true;
  // What else the model allows.
  bool loads_may_be_late = true;    // A load may read another store than the latest.
  bool stores_may_be_early = true;  // A store may come before another one.
};

enum class Kind : std::uint8_t { kStart, kLoad, kStore, kModify, kFence, kJoin };

struct Event {
  Kind kind = Kind::kStart;
  std::memory_order order = std::memory_order_relaxed;
  std::uint8_t thread = 0;
  std::uint16_t index = 0;   // Its number in the thread. 0: the content before all events.
  std::uintptr_t place = 0;  // The address that is accessed.
  std::size_t source = 0;    // The event whose store a load has read.
  std::uint64_t read = 0;    // The value that was loaded, stored.
  std::uint64_t stored = 0;
  const void* caller = nullptr;  // The instruction after the access.
  Clock before{};                // What the thread knew before the event.
  Clock known{};                 // What it knows after the event, with the event itself.
  Clock seen{};                  // As `known`, but whatever was read counts, in any order.
  Clock released{};              // What an acquire load of this store learns.

  bool reads() const noexcept { return kind == Kind::kLoad || kind == Kind::kModify; }
  bool stores() const noexcept { return kind == Kind::kStore || kind == Kind::kModify; }
  bool is_sequential() const noexcept { return order == std::memory_order_seq_cst; }
};

// An access that a thread is about to make.
struct Access {
  Kind kind = Kind::kLoad;
  std::memory_order order = std::memory_order_relaxed;
  std::memory_order otherwise = std::memory_order_relaxed;  // If `change` returns false.
  std::uintptr_t place = 0;
  std::size_t bytes = 0;
  std::uint64_t stored = 0;  // By a store.
  // By a read-modify-write: replaces the value. Returns false if it leaves the value.
  std::function<bool(std::uint64_t& value)> change{};
  const void* caller = nullptr;
};

// One of the things that the model lets an access do: which store it reads, or where in the order
// of the stores its own store comes. It is an index in that order.
using Option = std::size_t;

class Execution {
 public:
  explicit Execution(const Rules& rules) : rules_(rules), events_(1) {}

  // Begins a thread that knows what `parent` knows, and ends one.
  void start(std::size_t thread, std::size_t parent);
  void join_with(std::size_t thread, std::size_t child);

  // Returns everything that an access of a thread may do now. Never empty for a store.
  std::vector<Option> options(std::size_t thread, const Access& access);
  // Makes the access, and returns its event.
  const Event& make(std::size_t thread, const Access& access, Option option);
  void fence(std::size_t thread, std::memory_order order, const void* caller);

  // Returns the latest value at a place that was accessed.
  std::uint64_t latest(std::uintptr_t place) const;
  // Returns whether a later store than the one that `load` read has another value.
  bool has_news(const Event& load) const;

  // Plain accesses of a thread after its last event are known to a thread that knows
  // the next event.
  std::uint16_t next_index(std::size_t thread) const noexcept {
    return static_cast<std::uint16_t>(threads_[thread].known[thread] + 1);
  }
  const Clock& known(std::size_t thread) const noexcept { return threads_[thread].known; }

  // Returns a text that two executions share only if they consist of the same events.
  std::string key() const;

  const std::vector<Event>& events() const noexcept { return events_; }
  bool buffers_loads() const noexcept { return buffers_loads_; }

 private:
  struct Thread {
    Clock known{};
    Clock seen{};
    Clock pending{};   // What relaxed loads have read; an acquire fence learns it.
    Clock released{};  // What the thread knew at its last release fence.
    std::vector<std::size_t> events;
  };
  struct Place {
    std::vector<std::size_t> stores;  // In their order. The first is the content before all events.
    std::vector<std::size_t> loads;
    std::uint64_t first = 0;  // Its value.
  };

  Place& place_at(const Access& access);
  bool is_known(std::size_t event, const Clock& clock) const noexcept {
    return events_[event].index <= clock[events_[event].thread];
  }
  std::uint64_t value_of(const Place& place, std::size_t at) const noexcept {
    return at == 0 ? place.first : events_[place.stores[at]].stored;
  }
  std::size_t position_of(const Place& place, std::size_t store) const;
  std::size_t oldest_for(const Place& place, const Clock& known, bool loads) const;
  bool is_modified(const Place& place, std::size_t at) const;
  bool is_allowed(std::size_t thread, const Access& access, Option option);
  bool has_one_order() const;
  Event& add(std::size_t thread, Kind kind, std::memory_order order, const void* caller);
  void read(std::size_t thread, Event& event, std::size_t source, bool acquires);
  void store(std::size_t thread, Event& event, Place& place, std::size_t at);

  Rules rules_;
  std::array<Thread, kMostThreads> threads_{};
  std::vector<Event> events_;  // The first stands for the content of memory before all events.
  std::map<std::uintptr_t, Place> places_;
  std::size_t sequential_count_ = 0;
  bool buffers_loads_ = false;
};

}  // namespace rota::orders
