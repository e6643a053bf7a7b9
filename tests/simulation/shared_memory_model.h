// What ranks see of shared memory under the C++ memory model: a store that nothing orders before a
// load may be seen late, and in any order with other stores. A load may therefore return any value,
// except one that the rank must know to be replaced.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "simulation/random.h"
#include "simulation/scheduler.h"

namespace rota::simulation {

inline constexpr std::size_t kMostRanks = 8;

// Index = rank: how many stores of that rank are known.
using View = std::array<std::uint32_t, kMostRanks>;

// Selects which stores stay unseen as long as the memory model and `lateness` allow. kAll: all
// stores, by all ranks. kSomePlaces: stores to some places, by all ranks. kByLook: at each
// load, chance decides which of the allowed values the rank sees.
enum class Late : std::uint8_t { kAll, kSomePlaces, kByLook };

class SharedMemoryModel {
 public:
  // `lateness`: the longest time for which a store stays unseen.
  SharedMemoryModel(Scheduler& scheduler, Random& random, base::Duration lateness, Late late);

  // The first `fine_bytes` hold words, and the rest holds values, tracked line by line.
  void add_arena(std::span<std::byte> bytes, std::size_t fine_bytes);

  bool has(const void* address) const noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at - begin_ < end_ - begin_ && find(at) != nullptr;
  }

  // The hook is called before each store of a rank to shared memory.
  void on_store(std::function<void()> hook) { hook_ = std::move(hook); }

  // Called before the program itself makes a load or a store at the address. The value that the
  // load has to see is there until settle(), which is called before anything else happens.
  void before_load(const void* address, std::size_t bytes);
  void before_store(void* address, std::size_t bytes);
  void settle();
  bool is_settled() const noexcept { return patches_.empty(); }

  // Copies bytes; either end may be shared memory.
  void copy(void* to, const void* from, std::size_t bytes);

  // Load or store a word of 4 or 8 bytes. The value is in the lower bytes.
  std::uint64_t load(const void* address, std::size_t bytes, std::memory_order order);
  void store(void* address, std::size_t bytes, std::uint64_t value, std::memory_order order);
  // Returns the earlier value. If `change` returns false, the value stays unchanged, and the access
  // is a load in the order `otherwise`.
  std::uint64_t modify(void* address, std::size_t bytes, std::memory_order order,
                       std::memory_order otherwise,
                       const std::function<bool(std::uint64_t& value)>& change);
  void fence(std::memory_order order);

  // For messages outside of memory: a message carries what the sender knows, and the receiver knows
  // this too when the message arrives.
  View known() const { return own().now; }
  void learn(const View& view);
  static void join(View& view, const View& other);

 private:
  static constexpr std::size_t kWord = 8;
  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t kMostVersions = 6;

  struct Version {
    View released{};           // What a rank knows once it acquires this version.
    base::TimePoint shown{};   // From this time on no rank sees an older version.
    std::uint32_t number = 0;  // The store's number among the writer's; 0: the initial content.
    std::uint32_t writer = 0;
    std::array<std::byte, kLine> content{};  // The latest version is in the memory itself.
  };
  struct Location {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
    bool is_late = true;
    std::uint64_t first = 0;  // The number of forgotten versions.
    std::vector<Version> versions;
    std::array<std::uint64_t, kMostRanks> seen{};  // Index = rank: the oldest version it may see.
    // Index = rank: the latest version that the rank's atomic operations have read, and the number
    // of the first read of it, which counts as a store. 0: none.
    std::array<std::uint64_t, kMostRanks> read{};
    std::array<std::uint32_t, kMostRanks> read_number{};
  };
  // An index starts with zeros. It is not a vector: the linker would take the vector code compiled
  // for the simulated sources, which makes a call for each element.
  struct Free {
    void operator()(std::uint32_t* words) const noexcept { std::free(words); }
  };
  using Index = std::unique_ptr<std::uint32_t[], Free>;
  static Index make_index(std::size_t count);

  struct Arena {
    std::byte* memory = nullptr;
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::uintptr_t fine_end = 0;
    Index words;  // Indexes into locations_; 0 if no store was made yet.
    Index lines;
  };
  struct Rank {
    View now{};       // What the rank knows.
    View acquired{};  // What relaxed loads have read; an acquire fence makes it known.
    View released{};  // What the rank knew at its last release fence.
  };
  struct Patch {
    std::byte* at;
    std::size_t bytes;
    std::array<std::byte, kLine> content;
  };

  const Arena* find(std::uintptr_t at) const noexcept {
    for (const Arena& arena : arenas_) {
      if (at - arena.begin < arena.end - arena.begin) return &arena;
    }
    return nullptr;
  }
  Rank& own() { return ranks_[scheduler_.rank()]; }
  const Rank& own() const { return ranks_[scheduler_.rank()]; }

  std::uint32_t& index_of(std::uintptr_t at);
  Location* known_location(std::uintptr_t at);
  Location& location(std::uintptr_t at);
  template <class F>
  void for_each_location(std::uintptr_t at, std::size_t bytes, F visit);
  std::size_t choose(Location& location);
  const std::byte* content_of(const Location& location, std::size_t version) const;
  void add_version(Location& location, bool is_released, std::size_t bytes);
  void note_read(Location& location, std::size_t version);
  void join_known(const Version& version, bool is_acquired);
  void read(std::byte* to, const std::byte* from, std::size_t bytes);

  Scheduler& scheduler_;
  Random& random_;
  base::Duration lateness_;
  Late late_;
  std::function<void()> hook_;
  std::uintptr_t begin_ = UINTPTR_MAX;
  std::uintptr_t end_ = UINTPTR_MAX;
  std::vector<Arena> arenas_;
  std::vector<Location> locations_;
  std::array<Rank, kMostRanks> ranks_{};
  View sequential_{};  // What the last sequentially consistent fence knew.
  std::vector<Patch> patches_;
};

}  // namespace rota::simulation
