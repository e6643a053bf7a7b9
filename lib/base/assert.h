// Checks for mistakes in rota itself. Mistakes of users throw Error.
#pragma once

namespace rota::base {
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;
}  // namespace rota::base

// The check is active in every build: it is on control paths, where its cost does not matter.
#define ROTA_ASSERT(condition)            \
  (static_cast<bool>(condition) ? void(0) \
                                : ::rota::base::assertion_failed(#condition, __FILE__, __LINE__))
