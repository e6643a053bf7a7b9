// Keys that look random, but are the same in each run.
#pragma once
#include <cstddef>
#include <string>

namespace rota::testing {

// Returns the key for `name`: letters and digits.
inline std::string key_text(char name, std::size_t bytes = 40) {
  const std::string letters = "0aA1bB2cC3dD4eE5fF6gG7hH8iI9jJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ";
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) {
    text += letters[(static_cast<std::size_t>(name) + 37 * i) % letters.size()];
  }
  return text;
}

}  // namespace rota::testing
