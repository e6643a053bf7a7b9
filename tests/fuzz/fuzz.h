// Has the requirements for fuzzed parsers: a parser ends, and refuses bad input with an Error.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <rota/error.h>

namespace rota::fuzz {

inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

// Runs `parse`. If it throws an Error, the Error must say that the argument is bad, and be short
// enough to read.
template <class Parse>
void may_refuse(const Parse& parse) {
  try {
    parse();
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kInvalidArgument, "a refusal is an invalid argument");
    for (const char c : std::string_view(error.what())) {
      require(c != '\n' && c != '\0', "a refusal is one line");
    }
  }
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t count) {
  return {reinterpret_cast<const char*>(data), count};
}

}  // namespace rota::fuzz
