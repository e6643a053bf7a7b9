// Checks each access when it is made. This is enough: an execution that the model forbids stays
// forbidden when further events follow.
#include "orders/execution.h"

#include <bitset>
#include <cstdlib>
#include <utility>

namespace rota::orders {
namespace {

bool acquires(std::memory_order order) noexcept {
  return order != std::memory_order_relaxed && order != std::memory_order_release;
}
bool releases(std::memory_order order) noexcept {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

constexpr std::size_t kMostSequential = 64;
using Set = std::bitset<kMostSequential>;

// Returns whether some event comes before itself. `after`: index = event, the events after it.
bool has_circle(std::vector<Set> after) {
  for (std::size_t via = 0; via < after.size(); ++via) {
    for (Set& set : after) {
      if (set[via]) set |= after[via];
    }
  }
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i][i]) return true;
  }
  return false;
}

}  // namespace

void Execution::start(std::size_t thread, std::size_t parent) {
  add(parent, Kind::kStart, std::memory_order_relaxed, nullptr);
  threads_[thread] = {};
  threads_[thread].known = threads_[parent].known;
  threads_[thread].seen = threads_[parent].seen;
}

void Execution::join_with(std::size_t thread, std::size_t child) {
  add(child, Kind::kJoin, std::memory_order_relaxed, nullptr);
  join(threads_[thread].known, threads_[child].known);
  join(threads_[thread].seen, threads_[child].seen);
}

Event& Execution::add(std::size_t thread, Kind kind, std::memory_order order, const void* caller) {
  Thread& own = threads_[thread];
  own.events.push_back(events_.size());
  Event& event = events_.emplace_back();
  event.kind = kind;
  event.order = order;
  event.thread = static_cast<std::uint8_t>(thread);
  event.caller = caller;
  event.before = own.known;
  event.index = ++own.known[thread];
  own.seen[thread] = event.index;
  event.known = own.known;
  event.seen = own.seen;
  return event;
}

Execution::Place& Execution::place_at(const Access& access) {
  const auto [found, is_new] = places_.try_emplace(access.place);
  if (is_new) {
    found->second.stores.push_back(0);
    const auto* bytes = reinterpret_cast<const unsigned char*>(access.place);
    for (std::size_t i = access.bytes; i-- > 0;) {
      found->second.first = found->second.first << 8 | bytes[i];
    }
  }
  return found->second;
}

std::size_t Execution::position_of(const Place& place, std::size_t store) const {
  return static_cast<std::size_t>(std::ranges::find(place.stores, store) - place.stores.begin());
}

// Returns the oldest store that a load may read, or after which a store may come, if the thread has
// this knowledge.
std::size_t Execution::oldest_for(const Place& place, const Clock& known, bool loads) const {
  const bool keeps_read = loads ? rules_.loads_keep_the_read : rules_.stores_follow_the_read;
  const bool keeps_known = loads ? rules_.loads_keep_the_known : rules_.stores_follow_the_known;
  std::size_t oldest = 0;
  for (std::size_t at = place.stores.size(); keeps_known && at-- > 0;) {
    if (!is_known(place.stores[at], known)) continue;
    oldest = at;
    break;
  }
  for (const std::size_t load : place.loads) {
    if (!keeps_read || !is_known(load, known)) continue;
    oldest = std::max(oldest, position_of(place, events_[load].source));
  }
  return oldest;
}

// Returns whether a read-modify-write has read the store, so that no other store may come next.
bool Execution::is_modified(const Place& place, std::size_t at) const {
  if (!rules_.modify_is_one || at + 1 == place.stores.size()) return false;
  const Event& next = events_[place.stores[at + 1]];
  return next.kind == Kind::kModify && next.source == place.stores[at];
}

std::vector<Option> Execution::options(std::size_t thread, const Access& access) {
  const Place& place = place_at(access);
  const std::size_t last = place.stores.size() - 1;
  const bool loads = access.kind != Kind::kStore;
  std::size_t oldest = oldest_for(place, threads_[thread].known, loads);
  if (!(loads ? rules_.loads_may_be_late : rules_.stores_may_be_early)) oldest = last;
  std::vector<Option> options;
  for (Option option = oldest; option <= last; ++option) {
    bool stores = !loads;
    if (access.change) {
      std::uint64_t value = value_of(place, option);
      stores = access.change(value);
    }
    if (stores && is_modified(place, option)) continue;
    // An access may always read, or come after, the latest store.
    if (option == last || is_allowed(thread, access, option)) options.push_back(option);
  }
  return options;
}

// Makes the access, looks, and takes it back.
bool Execution::is_allowed(std::size_t thread, const Access& access, Option option) {
  if (sequential_count_ == 0 && access.order != std::memory_order_seq_cst) return true;
  const Thread own = threads_[thread];
  const std::size_t count = sequential_count_;
  const bool buffers_loads = buffers_loads_;
  const Event made = make(thread, access, option);
  const bool is_allowed = has_one_order();
  const std::size_t id = events_.size() - 1;
  Place& place = places_[access.place];
  if (made.reads()) place.loads.pop_back();
  if (made.stores()) std::erase(place.stores, id);
  events_.pop_back();
  threads_[thread] = own;
  sequential_count_ = count;
  buffers_loads_ = buffers_loads;
  return is_allowed;
}

const Event& Execution::make(std::size_t thread, const Access& access, Option option) {
  Place& place = place_at(access);
  std::uint64_t value = value_of(place, option);
  const std::uint64_t old = value;
  bool stores = access.kind == Kind::kStore;
  if (access.change) stores = access.change(value);
  const bool loads = access.kind != Kind::kStore;
  const Kind kind = !loads ? Kind::kStore : stores ? Kind::kModify : Kind::kLoad;
  const std::memory_order order =
      access.kind == Kind::kModify && !stores ? access.otherwise : access.order;
  Event& event = add(thread, kind, order, access.caller);
  event.place = access.place;
  event.read = old;
  event.stored = loads ? value : access.stored;
  if (event.is_sequential()) ++sequential_count_;
  if (loads) read(thread, event, place.stores[option], acquires(order));
  if (loads) place.loads.push_back(events_.size() - 1);
  if (stores) store(thread, event, place, option);
  return event;
}

void Execution::read(std::size_t thread, Event& event, std::size_t source, bool acquires) {
  Thread& own = threads_[thread];
  const Event& from = events_[source];
  event.source = source;
  join(own.seen, from.seen);
  if (acquires ? rules_.acquire_learns : !rules_.relaxed_is_silent) {
    join(own.known, from.released);
  } else if (!acquires) {
    join(own.pending, from.released);
  }
  event.known = own.known;
  event.seen = own.seen;
}

// Puts the store of an event after the store at position `at`.
void Execution::store(std::size_t thread, Event& event, Place& place, std::size_t at) {
  const Event& before = events_[place.stores[at]];
  const bool is_loud = releases(event.order) || !rules_.relaxed_is_silent;
  if (is_loud) {
    event.released = event.known;
  } else if (rules_.release_fence) {
    event.released = threads_[thread].released;
  }
  const bool passes_on = event.kind == Kind::kModify
                             ? rules_.modify_passes_on
                             : !rules_.only_modify_passes_on && before.thread == event.thread;
  if (passes_on) join(event.released, before.released);
  place.stores.insert(place.stores.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                      events_.size() - 1);
  for (const std::size_t load : place.loads) {
    const Event& early = events_[load];
    const std::uint16_t known = event.known[early.thread];
    const bool could_wait = !acquires(early.order) && !releases(event.order) &&
                            early.index > known && early.index <= event.seen[early.thread];
    // A read-modify-write cannot read a store that comes after its own.
    const bool comes_before = early.kind == Kind::kModify && position_of(place, load) <= at;
    if (could_wait && !comes_before) buffers_loads_ = true;
  }
}

void Execution::fence(std::size_t thread, std::memory_order order, const void* caller) {
  Thread& own = threads_[thread];
  Event& event = add(thread, Kind::kFence, order, caller);
  if (event.is_sequential()) ++sequential_count_;
  if (acquires(order) && rules_.acquire_fence) join(own.known, own.pending);
  event.known = own.known;
  if (releases(order)) own.released = own.known;
}

// Returns whether one order of all sequentially consistent events fits what each of them has seen:
// [atomics.order], paragraphs 3 and 4.
bool Execution::has_one_order() const {
  std::vector<std::size_t> all;
  for (std::size_t id = 1; id < events_.size(); ++id) {
    const Event& event = events_[id];
    const bool counts =
        event.kind == Kind::kFence ? rules_.fences_have_one_order : rules_.accesses_have_one_order;
    if (counts && event.is_sequential()) all.push_back(id);
  }
  if (all.size() > kMostSequential) std::abort();
  std::vector<Set> after(all.size());
  // Strongly happens before. Knowledge counts from the next event of its owner on, and not the
  // knowledge that the later event itself has acquired.
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Event& first = events_[all[i]];
    for (std::size_t j = 0; j < all.size(); ++j) {
      const Event& second = events_[all[j]];
      const bool is_own = first.thread == second.thread;
      after[i][j] = is_own ? first.index < second.index : second.before[first.thread] > first.index;
    }
  }
  // Coherence-ordered before, also by way of fences.
  const auto around = [&](std::size_t id, bool before) {
    Set set;
    const Event& event = events_[id];
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Event& one = events_[all[i]];
      if (all[i] == id) set[i] = true;
      if (one.kind != Kind::kFence) continue;
      if (before ? one.index <= event.known[one.thread] : event.index <= one.known[event.thread]) {
        set[i] = true;
      }
    }
    return set;
  };
  struct Ranked {
    std::size_t rank;  // Twice the position of a store, and one more for its loads.
    Set before;
    Set after;
  };
  for (const auto& [address, place] : places_) {
    std::vector<Ranked> ranked;
    for (std::size_t at = 1; at < place.stores.size(); ++at) {
      ranked.push_back({2 * at, around(place.stores[at], true), around(place.stores[at], false)});
    }
    for (const std::size_t load : place.loads) {
      if (events_[load].kind == Kind::kModify) continue;
      ranked.push_back({2 * position_of(place, events_[load].source) + 1, around(load, true),
                        around(load, false)});
    }
    for (const Ranked& first : ranked) {
      for (const Ranked& second : ranked) {
        if (first.rank >= second.rank || second.after.none()) continue;
        for (std::size_t i = 0; i < all.size(); ++i) {
          if (first.before[i]) after[i] |= second.after;
        }
      }
    }
  }
  return !has_circle(std::move(after));
}

std::uint64_t Execution::latest(std::uintptr_t place) const {
  const Place& found = places_.at(place);
  return value_of(found, found.stores.size() - 1);
}

bool Execution::has_news(const Event& load) const {
  const Place& place = places_.at(load.place);
  for (std::size_t at = position_of(place, load.source) + 1; at < place.stores.size(); ++at) {
    if (value_of(place, at) != load.read) return true;
  }
  return false;
}

std::string Execution::key() const {
  std::string key;
  const auto add_id = [&](std::size_t id) {
    const Event& event = events_[id];
    key += static_cast<char>(event.thread);
    key += static_cast<char>(event.index & 0xff);
    key += static_cast<char>(event.index >> 8);
  };
  for (const Thread& thread : threads_) {
    for (const std::size_t id : thread.events) {
      if (events_[id].reads()) add_id(events_[id].source);
    }
    key += '\xff';
  }
  for (const auto& [address, place] : places_) {
    if (place.stores.size() < 3) continue;
    for (const std::size_t store : place.stores) add_id(store);
    key += '\xff';
  }
  return key;
}

}  // namespace rota::orders
