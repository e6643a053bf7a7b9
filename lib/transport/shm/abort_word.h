// Lets a rank announce, to the ranks with which it shares memory, that their group has ended, and
// why. The first rank that announces wins.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "transport/transport.h"

namespace rota::transport::shm {

// An object in shared memory. All its fields are zero at first.
class AbortWord {
 public:
  static constexpr std::size_t kTextBytes = 1024;  // Longer text is cut.

  // Announces that `rank` gives up: every later is_set() returns true. Once begin() has returned,
  // the rank may write to memory that its peers borrowed from it. Returns true for the first rank,
  // which must then announce why, with tell().
  bool begin(std::size_t rank) noexcept;
  void tell(const Cause& cause) noexcept;

  // Returns whether a rank has given up. If false, everything that this rank has read from peers'
  // memory until now is valid: no peer's program had got its memory back before the read.
  bool is_set() const noexcept;

  // Returns the rank that began, whether or not it has called tell().
  std::optional<std::size_t> writer() const noexcept;

  // Returns the cause, once the first rank has called tell().
  std::optional<Cause> cause() const;

  // Returns the word, which is nonzero once a rank has begun.
  const std::atomic<std::uint32_t>& word() const noexcept { return word_; }

 private:
  static constexpr std::uint32_t kTold = 0x8000'0000;
  static constexpr std::uint32_t kNobody = 0xffff'ffff;

  std::atomic<std::uint32_t> word_;  // 0, or writer's rank + 1; with kTold, all fields are valid.
  std::uint32_t code_;
  std::uint32_t blamed_;
  std::array<char, kTextBytes> text_;  // Ends with a zero.
};

}  // namespace rota::transport::shm
