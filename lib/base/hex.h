// Writes bytes as hexadecimal text, with two digits per byte.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace rota::base {

inline std::string to_hex(std::span<const std::byte> bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());  // A text that moves would leave a copy behind, perhaps of a key.
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte >> 4)];
    text += kDigits[std::to_integer<unsigned>(byte & std::byte{15})];
  }
  return text;
}

// Returns a number as 16 digits, the most significant first.
inline std::string to_hex(std::uint64_t value) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[value >> shift & 15];
  return text;
}

}  // namespace rota::base
