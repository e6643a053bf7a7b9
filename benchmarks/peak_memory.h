// How much memory this process has used at most.
#pragma once
#include <cstddef>

namespace rota::bench {

// The high-water mark of the pages in memory, shared ones included. Unlike getrusage's figure it
// starts anew with the program, so it has nothing of the launcher in it.
std::size_t peak_memory_bytes();

}  // namespace rota::bench
