// Times something short by doing it often enough.
#pragma once
#include <cstddef>

#include "base/time.h"

namespace rota::bench {

template <class Function>
double seconds_of_a_call(const Function& function) {
  constexpr double kEnough = 0.02;  // Far more than the clock's resolution.
  function();                       // Warms the caches up.
  std::size_t calls = 0;
  double seconds = 0;
  const base::TimePoint start = base::Clock::now();
  for (std::size_t more = 1; seconds < kEnough; more *= 2) {
    for (std::size_t i = 0; i < more; ++i) function();
    calls += more;
    seconds = base::to_seconds(base::Clock::now() - start);
  }
  return seconds / static_cast<double>(calls);
}

}  // namespace rota::bench
