// Where ranks that share memory say that their group has ended, and why. The first of them wins.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "transport/transport.h"

namespace rota::transport::shm {

// Lies in shared memory, and begins as zeros.
class AbortWord {
 public:
  static constexpr std::size_t kTextBytes = 1024;  // What is longer is cut.

  // Says that `rank` gives up: every look after it fails. What this rank lends may be written to
  // once it has returned. True where it is the first, which then tells why.
  bool begin(std::size_t rank) noexcept;
  void tell(const Cause& cause) noexcept;

  // What was read of peers' memory before a look that finds nothing was read before they had it
  // back.
  bool is_set() const noexcept;

  // Who began, whether or not it has told.
  std::optional<std::size_t> writer() const noexcept;

  // Once the first one has told.
  std::optional<Cause> cause() const;

  // Not zero once it is set.
  const std::atomic<std::uint32_t>& word() const noexcept { return word_; }

 private:
  static constexpr std::uint32_t kTold = 0x8000'0000;
  static constexpr std::uint32_t kNobody = 0xffff'ffff;

  std::atomic<std::uint32_t> word_;  // 0, or the writer's rank + 1; with kTold, the rest is valid.
  std::uint32_t code_;
  std::uint32_t blamed_;
  std::array<char, kTextBytes> text_;  // Ends with a zero.
};

}  // namespace rota::transport::shm
