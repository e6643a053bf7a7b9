// Keeps a list of versions for each word or cache line that was stored to. The latest version is
// the memory itself.
#include "simulation/shared_memory_model.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace rota::simulation {
namespace {

constexpr std::uint64_t kLateOneIn = 4;  // With kSomePlaces, one place in four is late.

bool acquires(std::memory_order order) {
  return order != std::memory_order_relaxed && order != std::memory_order_release;
}
bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

}  // namespace

SharedMemoryModel::SharedMemoryModel(Scheduler& scheduler, Random& random, base::Duration lateness,
                                     Late late)
    : scheduler_(scheduler), random_(random), lateness_(lateness), late_(late), locations_(1) {}

SharedMemoryModel::Index SharedMemoryModel::make_index(std::size_t count) {
  Index index(static_cast<std::uint32_t*>(std::calloc(count + 1, sizeof(std::uint32_t))));
  if (!index) std::abort();
  return index;
}

void SharedMemoryModel::add_arena(std::span<std::byte> bytes, std::size_t fine_bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  Arena arena{.memory = bytes.data(),
              .begin = begin,
              .end = begin + bytes.size(),
              .fine_end = begin + fine_bytes};
  arena.words = make_index(fine_bytes / kWord);
  arena.lines = make_index((bytes.size() - fine_bytes) / kLine);
  begin_ = arenas_.empty() ? begin : std::min(begin_, begin);
  end_ = arenas_.empty() ? arena.end : std::max(end_, arena.end);
  arenas_.push_back(std::move(arena));
}

void SharedMemoryModel::join(View& view, const View& other) {
  for (std::size_t rank = 0; rank < kMostRanks; ++rank) {
    view[rank] = std::max(view[rank], other[rank]);
  }
}

void SharedMemoryModel::learn(const View& view) { join(own().now, view); }

std::uint32_t& SharedMemoryModel::index_of(std::uintptr_t at) {
  auto& arena = const_cast<Arena&>(*find(at));
  return at < arena.fine_end ? arena.words[(at - arena.begin) / kWord]
                             : arena.lines[(at - arena.fine_end) / kLine];
}

SharedMemoryModel::Location* SharedMemoryModel::known_location(std::uintptr_t at) {
  const std::uint32_t index = index_of(at);
  return index == 0 ? nullptr : &locations_[index];
}

SharedMemoryModel::Location& SharedMemoryModel::location(std::uintptr_t at) {
  std::uint32_t& index = index_of(at);
  if (index == 0) {
    const Arena& arena = *find(at);
    const std::size_t bytes = at < arena.fine_end ? kWord : kLine;
    index = static_cast<std::uint32_t>(locations_.size());
    Location& made = locations_.emplace_back();
    made.memory = arena.memory + (at - arena.begin) / bytes * bytes;
    made.bytes = bytes;
    made.versions.emplace_back();
    made.is_late = late_ != Late::kSomePlaces || random_.one_in(kLateOneIn);
  }
  return locations_[index];
}

// Calls visit(address, bytes) for each word or line that the range touches.
template <class F>
void SharedMemoryModel::for_each_location(std::uintptr_t at, std::size_t bytes, F visit) {
  const std::uintptr_t fine_end = find(at)->fine_end;
  while (bytes > 0) {
    const std::size_t unit = at < fine_end ? kWord : kLine;
    const std::size_t part = std::min(bytes, unit - at % unit);
    visit(at, part);
    at += part;
    bytes -= part;
  }
}

// Notes what an atomic operation has read. A rank that knows of this read sees no older version.
void SharedMemoryModel::note_read(Location& location, std::size_t version) {
  const std::size_t rank = scheduler_.rank();
  if (location.first + version <= location.read[rank]) return;
  location.read[rank] = location.first + version;
  location.read_number[rank] = ++own().now[rank];
}

// Chooses among the versions that the rank may see: the latest version that the rank knows of, and
// all later versions.
std::size_t SharedMemoryModel::choose(Location& location) {
  const std::size_t rank = scheduler_.rank();
  for (std::size_t reader = 0; reader < kMostRanks; ++reader) {
    const bool is_known = location.read_number[reader] <= ranks_[rank].now[reader];
    if (is_known) location.seen[rank] = std::max(location.seen[rank], location.read[reader]);
  }
  const std::vector<Version>& versions = location.versions;
  const std::size_t last = versions.size() - 1;
  const std::uint64_t seen = std::max(location.seen[rank], location.first) - location.first;
  std::size_t least = last;
  while (least > seen) {
    const Version& version = versions[least];
    const bool is_known = version.number <= ranks_[rank].now[version.writer];
    if (is_known || version.shown <= scheduler_.now()) break;
    --least;
  }
  std::size_t chosen = least;
  if (late_ == Late::kByLook && least < last) {
    chosen = random_.one_in(2) ? random_.between(least, last) : last;
  }
  location.seen[rank] = location.first + chosen;
  return chosen;
}

const std::byte* SharedMemoryModel::content_of(const Location& location,
                                               std::size_t version) const {
  return version + 1 == location.versions.size() ? location.memory
                                                 : location.versions[version].content.data();
}

void SharedMemoryModel::join_known(const Version& version, bool is_acquired) {
  join(is_acquired ? own().now : own().acquired, version.released);
}

// Must be called before the memory changes. A store may be smaller than its word or line. A rank
// that sees the store also sees the older content of the rest, with everything that the older
// version had released.
void SharedMemoryModel::add_version(Location& location, bool is_released, std::size_t bytes) {
  const std::size_t rank = scheduler_.rank();
  Rank& writer = ranks_[rank];
  std::memcpy(location.versions.back().content.data(), location.memory, location.bytes);
  if (location.versions.size() == kMostVersions) {
    location.versions.erase(location.versions.begin());
    ++location.first;
  }
  Version version;
  version.number = ++writer.now[rank];
  version.writer = static_cast<std::uint32_t>(rank);
  version.shown = scheduler_.now() + (location.is_late ? lateness_ : base::Duration(0));
  version.released = is_released ? writer.now : writer.released;
  if (bytes < location.bytes) join(version.released, location.versions.back().released);
  location.versions.push_back(version);
  scheduler_.note_event();
}

void SharedMemoryModel::before_load(const void* address, std::size_t bytes) {
  settle();
  for_each_location(
      reinterpret_cast<std::uintptr_t>(address), bytes, [&](std::uintptr_t at, std::size_t) {
        Location* const location = known_location(at);
        if (!location) return;
        const std::size_t chosen = choose(*location);
        join_known(location->versions[chosen], false);
        if (chosen + 1 == location->versions.size()) return;
        Patch& patch = patches_.emplace_back(Patch{location->memory, location->bytes, {}});
        std::memcpy(patch.content.data(), patch.at, patch.bytes);
        std::memcpy(patch.at, content_of(*location, chosen), patch.bytes);
      });
}

void SharedMemoryModel::settle() {
  for (; !patches_.empty(); patches_.pop_back()) {
    const Patch& patch = patches_.back();
    std::memcpy(patch.at, patch.content.data(), patch.bytes);
  }
}

void SharedMemoryModel::before_store(void* address, std::size_t bytes) {
  settle();
  if (hook_) hook_();
  for_each_location(
      reinterpret_cast<std::uintptr_t>(address), bytes,
      [&](std::uintptr_t at, std::size_t part) { add_version(location(at), false, part); });
}

void SharedMemoryModel::read(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(from);
  for_each_location(begin, bytes, [&](std::uintptr_t at, std::size_t part) {
    Location* const location = known_location(at);
    const std::byte* content = from + (at - begin);
    if (location) {
      const std::size_t chosen = choose(*location);
      join_known(location->versions[chosen], false);
      content = content_of(*location, chosen) + at % location->bytes;
    }
    std::memcpy(to, content, part);
    to += part;
  });
}

void SharedMemoryModel::copy(void* to, const void* from, std::size_t bytes) {
  settle();
  std::vector<std::byte> seen;
  if (has(from)) {
    seen.resize(bytes);
    read(seen.data(), static_cast<const std::byte*>(from), bytes);
    from = seen.data();
  }
  if (has(to)) before_store(to, bytes);
  std::memcpy(to, from, bytes);
}

std::uint64_t SharedMemoryModel::load(const void* address, std::size_t bytes,
                                      std::memory_order order) {
  settle();
  std::uint64_t value = 0;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  Location* const found = known_location(at);
  if (!found) {
    std::memcpy(&value, address, bytes);
    return value;
  }
  // Sequentially consistent accesses have one order among themselves, and do not order other
  // accesses.
  const bool is_sequential = order == std::memory_order_seq_cst;
  const std::size_t chosen = is_sequential ? found->versions.size() - 1 : choose(*found);
  note_read(*found, chosen);
  join_known(found->versions[chosen], acquires(order));
  std::memcpy(&value, content_of(*found, chosen) + at % found->bytes, bytes);
  return value;
}

void SharedMemoryModel::store(void* address, std::size_t bytes, std::uint64_t value,
                              std::memory_order order) {
  settle();
  if (hook_) hook_();
  Location& found = location(reinterpret_cast<std::uintptr_t>(address));
  add_version(found, releases(order), bytes);
  std::memcpy(address, &value, bytes);
}

// Finds the latest version, and passes on what that version had released.
std::uint64_t SharedMemoryModel::modify(void* address, std::size_t bytes, std::memory_order order,
                                        std::memory_order otherwise,
                                        const std::function<bool(std::uint64_t& value)>& change) {
  settle();
  if (hook_) hook_();
  Location& found = location(reinterpret_cast<std::uintptr_t>(address));
  const Version latest = found.versions.back();
  std::uint64_t before = 0;
  std::memcpy(&before, address, bytes);
  found.seen[scheduler_.rank()] = found.first + found.versions.size() - 1;
  note_read(found, found.versions.size() - 1);
  std::uint64_t value = before;
  const bool is_changed = change(value);
  join_known(latest, acquires(is_changed ? order : otherwise));
  if (is_changed) {
    add_version(found, releases(order), bytes);
    join(found.versions.back().released, latest.released);
    std::memcpy(address, &value, bytes);
  }
  return before;
}

void SharedMemoryModel::fence(std::memory_order order) {
  settle();
  Rank& rank = own();
  if (acquires(order)) join(rank.now, rank.acquired);
  if (order == std::memory_order_seq_cst) {
    join(rank.now, sequential_);
    sequential_ = rank.now;
  }
  if (releases(order)) rank.released = rank.now;
}

}  // namespace rota::simulation
