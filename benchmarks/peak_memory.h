// Peak memory of this process.
#pragma once
#include <cstddef>

namespace rota::bench {

// Returns the high-water mark of the pages in memory, in bytes, shared pages included. The kernel
// resets the mark when a program starts. getrusage() is not used, because its value includes the
// launcher's peak.
std::size_t peak_memory_bytes();

}  // namespace rota::bench
