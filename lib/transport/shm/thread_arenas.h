// The arenas of ranks that are threads of one process.
#pragma once
#include <cstddef>
#include <memory>

#include "transport/shm/domain.h"

namespace rota::transport::shm {

// For each of `count` threads: room in the address space, which all share, and not memory. Throws
// Error kNoMemory where files may not be so large that it is of use.
std::size_t thread_arena_bytes(std::size_t count);

// Throws what Domain's constructor does.
std::shared_ptr<Domain> make_thread_arenas(std::size_t count, std::size_t bytes);

}  // namespace rota::transport::shm
