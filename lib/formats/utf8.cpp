// Goes through a text, one character after the other.
#include "formats/utf8.h"

#include <cstddef>

#include "base/utf8.h"

namespace rota::formats {

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t bytes = base::character_bytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string to_utf8(std::string_view text) {
  std::string whole;
  while (!text.empty()) {
    const std::size_t bytes = base::character_bytes(text);
    if (bytes == 0) {
      whole += "\xef\xbf\xbd";
      text.remove_prefix(1);
    } else {
      whole += text.substr(0, bytes);
      text.remove_prefix(bytes);
    }
  }
  return whole;
}

}  // namespace rota::formats
