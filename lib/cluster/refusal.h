// Refuses a bad specification with an Error that shows the variable and its value.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace rota::cluster {

// Throws Error kInvalidArgument.
[[noreturn]] void refuse(const std::string& text);

// Returns the value in a form that can be printed: quoted, cut if it is long, with "?" for every
// byte that is not printable ASCII.
std::string shown(std::string_view value);

struct Range {
  std::size_t least = 0;
  std::size_t most = 0;
};

// Parses a whole number. For the error text, `what` names the variable, or the place in the
// variable. Throws Error kInvalidArgument if the text is not a number in the range.
std::size_t to_number(const std::string& what, std::string_view text, Range range);

}  // namespace rota::cluster
