// Makes counters in memory that rotarun's two processes share.
#pragma once
#include <atomic>
#include <cstdint>

namespace rota::launcher {

using SharedCounter = std::atomic<std::uint64_t>;

// Makes a counter, which processes that are forked later share. It stays until the process ends.
// Throws Error kNoMemory, which names `what`.
SharedCounter* make_shared_counter(const char* what);

}  // namespace rota::launcher
