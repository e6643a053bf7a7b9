// Finds the characters of a text in UTF-8. Characters that are longer than need be, surrogates, and
// numbers beyond U+10FFFF are none.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rota::base {

constexpr bool is_within_character(char c) noexcept {
  return (static_cast<std::uint8_t>(c) & 0xc0) == 0x80;
}

// Returns the number of bytes of the character with which `text` begins, or 0 if it begins with
// none. Requires a text that is not empty.
constexpr std::size_t character_bytes(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  const std::uint8_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const std::uint8_t greatest = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < least || byte(1) > greatest) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (!is_within_character(text[i])) return 0;
  }
  return length;
}

// Returns the beginning of a text, of `most` bytes or up to 3 fewer: it ends with a whole
// character. Bytes that are not UTF-8 are cut anywhere.
constexpr std::string_view cut(std::string_view text, std::size_t most) noexcept {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && most - end < 3 && is_within_character(text[end])) --end;
  return text.substr(0, is_within_character(text[end]) ? most : end);
}

}  // namespace rota::base
