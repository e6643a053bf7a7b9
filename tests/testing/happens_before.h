// Checks that accesses to memory that ranks share have a fixed order, whatever the timing: each
// read after the write that it needs, and each write after every earlier access. Ranks run one at a
// time, in one thread. The order is the one that C++ promises: each rank's own order, and from a
// release store to the acquire load that reads it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace rota::testing {

class HappensBefore {
 public:
  // `memory`: the bytes to watch. Each rank owns an equal part of them.
  HappensBefore(std::size_t rank_count, std::span<std::byte> memory);

  // Sets the rank that makes the next accesses.
  void enter(std::size_t rank) noexcept { rank_ = rank; }

  bool is_watched(const void* address) const noexcept { return offset_of(address) < bytes_; }

  void read(const void* address, std::size_t bytes);
  void write(const void* address, std::size_t bytes);

  // Make an atomic access of 4 or 8 bytes. A load sees the store that follows the last store that
  // the rank has seen, and no later store. So the rank learns no more than it waits for.
  std::uint64_t load(const void* address, std::size_t bytes, bool acquires);
  void store(void* address, std::size_t bytes, std::uint64_t value, bool releases);

  // Describes the first two accesses that have no order; empty if there are none.
  const std::optional<std::string>& flaw() const noexcept { return flaw_; }

 private:
  static constexpr std::size_t kWord = 4;
  static constexpr std::uint16_t kNobody = 0xffff;
  static constexpr std::uint16_t kSeveral = 0xfffe;

  using Clock = std::vector<std::uint32_t>;  // Index = rank: its latest moment known here.

  // A point in the time of a rank.
  struct Moment {
    std::uint16_t rank = kNobody;
    std::uint32_t time = 0;
  };
  struct Word {
    Moment written;
    Moment read;  // Since that write. kSeveral: readers_ has the reads.
  };
  struct Version {
    std::uint64_t value = 0;
    Clock released;  // Empty: the store is not a release.
  };
  struct Atomic {
    std::vector<Version> versions{1};
    std::vector<std::size_t> seen;  // Index = rank: the last version it has seen.
  };

  std::size_t offset_of(const void* address) const noexcept {
    return static_cast<std::size_t>(static_cast<const std::byte*>(address) - begin_);
  }
  bool is_before(Moment moment) const noexcept {
    return moment.rank == kNobody || clocks_[rank_][moment.rank] >= moment.time;
  }
  Moment now() const noexcept { return {static_cast<std::uint16_t>(rank_), clocks_[rank_][rank_]}; }
  void read_word(std::size_t index);
  void write_word(std::size_t index);
  Atomic& atomic_at(const void* address);
  void note(const char* verb, std::size_t index, const char* other_verb, Moment other);

  const std::byte* begin_;
  std::size_t bytes_;
  std::size_t rank_ = 0;
  std::vector<Clock> clocks_;  // Index = rank.
  std::vector<Word> words_;
  std::unordered_map<std::size_t, std::vector<Moment>> readers_;  // Key: word.
  std::unordered_map<const void*, Atomic> atomics_;
  std::optional<std::string> flaw_;
};

}  // namespace rota::testing
