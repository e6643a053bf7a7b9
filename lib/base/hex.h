// Bytes as people write them: two digits each.
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace rota::base {

inline std::string to_hex(std::span<const std::byte> bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte >> 4)];
    text += kDigits[std::to_integer<unsigned>(byte & std::byte{15})];
  }
  return text;
}

}  // namespace rota::base
