// Has the monotonic clock, and functions for time limits. No wait depends on wall-clock time.
#pragma once
#include <chrono>
#include <optional>
#include <string>

namespace rota::base {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Duration = std::chrono::nanoseconds;

// A wait of this length practically never ends. A TimePoint plus kForever does not overflow.
inline constexpr Duration kForever = std::chrono::hours(24 * 365);

// Returns the earlier of two times. An empty value counts as later than every time.
inline std::optional<TimePoint> earlier(std::optional<TimePoint> one,
                                        std::optional<TimePoint> other) noexcept {
  return other && (!one || *other < *one) ? other : one;
}

inline double to_seconds(Duration duration) noexcept {
  return std::chrono::duration<double>(duration).count();
}

// Returns a text for error messages, such as "2 s", "0.5 s", "12 ms" or "1800 s".
std::string to_text(Duration duration);

}  // namespace rota::base
