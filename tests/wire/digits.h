// Writes the expected bytes of a message as hexadecimal digits, field by field. The bytes must be
// the same on every machine, so no test computes them from the types of this one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/byte_stream.h"
#include "base/hex.h"

namespace rota::testing {

inline std::string digits_of(std::span<const std::byte> bytes) { return base::to_hex(bytes); }
inline std::string digits_of(std::string_view text) { return digits_of(base::bytes_of(text)); }

// Returns the bytes of an object as it lies in memory.
template <class T>
std::string digits_in_memory(const T& object) {
  return digits_of(std::as_bytes(std::span(&object, 1)));
}

// Returns the digits of a text of fewer than 256 bytes: its length in four bytes, the lowest first,
// and the text.
inline std::string text(std::string_view text) {
  const auto length = static_cast<std::byte>(text.size());
  return digits_of(std::span(&length, 1)) + "000000" + digits_of(text);
}

inline std::string zeros(std::size_t byte_count) { return std::string(2 * byte_count, '0'); }

inline std::string joined(std::initializer_list<std::string_view> fields) {
  std::string all;
  for (const std::string_view field : fields) all += field;
  return all;
}

}  // namespace rota::testing
