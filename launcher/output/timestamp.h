// The time at which a line of output came, as it stands before it.
#pragma once
#include <array>
#include <chrono>
#include <string_view>

namespace rota::launcher {

// UTC by ISO 8601, to the millisecond: "2026-03-09T16:05:07.042Z". Always as long; years from 0 to
// 9999.
class Timestamp {
 public:
  explicit Timestamp(std::chrono::system_clock::time_point time) noexcept;

  std::string_view text() const noexcept { return {text_.data(), text_.size()}; }

 private:
  std::array<char, 24> text_;
};

}  // namespace rota::launcher
