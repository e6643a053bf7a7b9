// The monotonic clock, and waits that end. Nothing goes by wall-clock time.
#pragma once
#include <chrono>
#include <string>

namespace rota::base {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Duration = std::chrono::nanoseconds;

inline double to_seconds(Duration duration) noexcept {
  return std::chrono::duration<double>(duration).count();
}

// "2 s", "0.5 s", "12 ms": as an error message says it.
std::string to_text(Duration duration);

}  // namespace rota::base
