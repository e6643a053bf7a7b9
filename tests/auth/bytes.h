// Makes byte strings for tests from text, hexadecimal digits and numbers.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "auth/key.h"

namespace rota::auth {

using Bytes = std::vector<std::byte>;

inline Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline Bytes bytes_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

// Returns the bytes that hexadecimal digits stand for: two bytes for "0aff".
inline Bytes from_hex(std::string_view digits) {
  const auto digit = [](char c) {
    return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
  };
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(digit(digits[i]) << 4 | digit(digits[i + 1])));
  }
  return bytes;
}

// Returns `count` bytes: `first`, `first` + 1, and so on.
inline Bytes counting(std::size_t count, unsigned first = 0) {
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(first++);
  return bytes;
}

inline Bytes joined(std::initializer_list<std::span<const std::byte>> parts) {
  Bytes bytes;
  for (const auto part : parts) bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

inline Key some_key(unsigned first = 0) {
  Key key;
  std::ranges::copy(counting(kKeyBytes, first), key.bytes().begin());
  return key;
}

}  // namespace rota::auth
