// Checks for our own mistakes. Users' mistakes are Errors.
#pragma once

namespace rota::base {
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;
}  // namespace rota::base

// Always on: it guards invariants on control paths, where it costs nothing that matters.
#define ROTA_ASSERT(condition)            \
  (static_cast<bool>(condition) ? void(0) \
                                : ::rota::base::assertion_failed(#condition, __FILE__, __LINE__))
