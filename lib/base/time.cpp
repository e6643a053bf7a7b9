// Prints durations for a person.
#include "base/time.h"

#include <cstdio>

namespace rota::base {

std::string to_text(Duration duration) {
  char text[32];
  const double seconds = to_seconds(duration);
  if (seconds >= 0.1) {
    std::snprintf(text, sizeof text, "%.3g s", seconds);
  } else {
    std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
  }
  return text;
}

}  // namespace rota::base
