// Plain memory of this process.
#pragma once
#include <cstddef>

#include <rota/memory.h>

namespace rota::memory {

inline constexpr std::size_t kAlignment = 64;  // Of every block: a cache line, a vector register.

// Zeroed. Throws Error kNoMemory.
Block allocate_host(std::size_t bytes);

}  // namespace rota::memory
