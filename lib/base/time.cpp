// Prints durations for a person.
#include "base/time.h"

#include "base/number_text.h"

namespace rota::base {

std::string to_text(Duration duration) {
  constexpr double kWholeSeconds = 100;  // Three digits of a longer time would not be all of it.
  const double seconds = to_seconds(duration);
  if (seconds >= kWholeSeconds) return fixed_text(seconds, 0) + " s";
  if (seconds >= 0.1) return rounded_text(seconds, 3) + " s";
  return rounded_text(seconds * 1e3, 3) + " ms";
}

}  // namespace rota::base
