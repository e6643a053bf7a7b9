// Where a broken invariant ends: a line on stderr and an abort.
#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace rota::base {

void assertion_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "rota: internal error: %s is false at %s:%d\n", condition, file, line);
  std::abort();
}

}  // namespace rota::base
