// Allocates Blocks of private memory, which only this process can access.
#pragma once
#include <cstddef>

#include <rota/memory.h>

namespace rota::memory {

inline constexpr std::size_t kAlignment = 64;  // The size of a cache line and of a vector register.

// The memory is zeroed and aligned to kAlignment. Throws Error kNoMemory.
Block allocate_host(std::size_t bytes);

}  // namespace rota::memory
