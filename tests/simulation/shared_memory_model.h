// What ranks see of memory that they share, as the C++ memory model has it: a store that nothing
// orders before a load may be seen late, and in any order with others. A look may therefore find
// any value that no later one, which the rank must know of, has replaced.
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

// By rank: how many of its stores are known.
using View = std::array<std::uint32_t, kMostRanks>;

// Which stores stay unseen for as long as they may: all of them, those to some places, or each for
// those who happen to look at what was there before.
enum class Late : std::uint8_t { kAll, kSomePlaces, kByLook };

class SharedMemoryModel {
 public:
  // `lateness`: the longest that a store stays unseen.
  SharedMemoryModel(Scheduler& scheduler, Random& random, base::Duration lateness, Late late);

  // The first `fine_bytes` hold words, the rest of it values, which are followed line by line.
  void add_arena(std::span<std::byte> bytes, std::size_t fine_bytes);

  bool has(const void* address) const noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at - begin_ < end_ - begin_ && find(at) != nullptr;
  }

  // Called before each store of a rank to what it shares.
  void on_store(std::function<void()> hook) { hook_ = std::move(hook); }

  // Before a load and a store that the program itself makes, next, at the address. What it is to
  // see lies there until settle(), which comes before anything else happens.
  void before_load(const void* address, std::size_t bytes);
  void before_store(void* address, std::size_t bytes);
  void settle();
  bool is_settled() const noexcept { return patches_.empty(); }

  // Copies, of which either end may be shared.
  void copy(void* to, const void* from, std::size_t bytes);

  // A word of 4 or 8 bytes, whose value is in the lower ones.
  std::uint64_t load(const void* address, std::size_t bytes, std::memory_order order);
  void store(void* address, std::size_t bytes, std::uint64_t value, std::memory_order order);
  // Returns what was there. `change` returns false where it leaves that as it is, which is a load
  // in the order `otherwise`.
  std::uint64_t modify(void* address, std::size_t bytes, std::memory_order order,
                       std::memory_order otherwise,
                       const std::function<bool(std::uint64_t& value)>& change);
  void fence(std::memory_order order);

  // Of messages that go elsewhere: what is known where they are sent is known where they arrive.
  View known() const { return own().now; }
  void learn(const View& view);
  static void join(View& view, const View& other);

 private:
  static constexpr std::size_t kWord = 8;
  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t kMostVersions = 6;

  struct Version {
    View released{};           // What is known to whoever acquires it.
    base::TimePoint shown{};   // From then on nobody sees what was before it.
    std::uint32_t number = 0;  // Of the writer's stores; 0: it has always been there.
    std::uint32_t writer = 0;
    std::array<std::byte, kLine> content{};  // Of the last one: in the memory itself.
  };
  struct Location {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
    bool is_late = true;
    std::uint64_t first = 0;  // The count of versions that are forgotten.
    std::vector<Version> versions;
    std::array<std::uint64_t, kMostRanks> seen{};  // By rank: the oldest that it may still see.
  };
  // Zeros. Not a vector: the linker takes for that what was compiled for the simulated sources,
  // with a call for each element.
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
    Index words;  // Into locations_; 0 where there was no store yet.
    Index lines;
  };
  struct Rank {
    View now{};       // What it knows.
    View acquired{};  // What it has read by relaxed loads, and an acquire fence makes known.
    View released{};  // What it knew at its last release fence.
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
