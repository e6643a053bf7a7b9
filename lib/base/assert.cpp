// Ends the process if an invariant is broken: writes a line to stderr and aborts.
#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace rota::base {

void assertion_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "rota: internal error: %s is false at %s:%d\n", condition, file, line);
  std::abort();
}

}  // namespace rota::base
