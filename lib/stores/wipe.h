// Overwrites texts that have held a key, so that no core file has them.
#pragma once
#include <span>
#include <string>

#include "os/host.h"

namespace rota::stores {

// Empties the text. Overwrites also the memory behind its end, where an erased part may be left.
inline void wipe(std::string& text) noexcept {
  text.resize(text.capacity());
  os::wipe(std::as_writable_bytes(std::span(text)));
  text.clear();
}

}  // namespace rota::stores
