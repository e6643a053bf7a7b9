// Turns a kind of memory into words.
#include "memory/kind.h"

namespace rota::memory {

std::string to_text(MemoryKind kind) {
  return kind.is_host() ? "host memory" : "the memory of device " + std::to_string(kind.device());
}

}  // namespace rota::memory
