// Finds the characters of a text in UTF-8. Characters that are longer than need be, surrogates, and
// numbers beyond U+10FFFF are none.
#include "formats/utf8.h"

#include <cstddef>
#include <cstdint>

namespace rota::formats {
namespace {

// Returns the number of bytes of the character with which `text` begins, or 0 if it begins with
// none. Requires a text that is not empty.
std::size_t character_bytes(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  const std::uint8_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const std::uint8_t greatest = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < least || byte(1) > greatest) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string to_utf8(std::string_view text) {
  std::string whole;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
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
