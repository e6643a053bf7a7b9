// Names a kind of memory, as every message to users does.
#pragma once
#include <string>

#include <rota/memory_kind.h>

namespace rota::memory {

// Returns "host memory" or "the memory of device 0".
std::string to_text(MemoryKind kind);

}  // namespace rota::memory
