// How a bad specification is refused: by an Error that shows the variable and what is in it.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace rota::cluster {

// Throws Error kInvalidArgument.
[[noreturn]] void refuse(const std::string& text);

// The value as it can be printed: quoted, cut where it is long, without control characters.
std::string shown(std::string_view value);

struct Range {
  std::size_t least = 0;
  std::size_t most = 0;
};

// `what` is the variable, or the place in it, that has the number.
std::size_t to_number(const std::string& what, std::string_view text, Range range);

}  // namespace rota::cluster
