// The monotonic clock, and waits that end. Nothing goes by wall-clock time.
#pragma once
#include <chrono>
#include <optional>
#include <string>

namespace rota::base {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Duration = std::chrono::nanoseconds;

// As good as for ever, and still a duration that a time can be asked to be later by.
inline constexpr Duration kForever = std::chrono::hours(24 * 365);

// Nothing is later than any time.
inline std::optional<TimePoint> earlier(std::optional<TimePoint> one,
                                        std::optional<TimePoint> other) noexcept {
  return other && (!one || *other < *one) ? other : one;
}

inline double to_seconds(Duration duration) noexcept {
  return std::chrono::duration<double>(duration).count();
}

// "2 s", "0.5 s", "12 ms": as an error message says it.
std::string to_text(Duration duration);

}  // namespace rota::base
