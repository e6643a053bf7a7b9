// Writes numbers by std::to_chars, which knows no locale. printf and streams write the point of the
// locale, and std::to_string cuts a number after six digits.
#include "base/number_text.h"

#include <array>
#include <charconv>

namespace rota::base {
namespace {

// The largest double has 309 digits before its point, and people read few digits after it.
using Digits = std::array<char, 512>;

// Calls `write` with the range to write to. It returns what std::to_chars returns.
template <class Write>
std::string written(const Write& write) {
  Digits digits{};
  const std::to_chars_result result = write(digits.data(), digits.data() + digits.size());
  return {digits.data(), result.ptr};
}

}  // namespace

std::string shortest_text(double number) {
  return written([&](char* first, char* last) { return std::to_chars(first, last, number); });
}

std::string rounded_text(double number, int digits) {
  return written([&](char* first, char* last) {
    return std::to_chars(first, last, number, std::chars_format::general, digits);
  });
}

std::string fixed_text(double number, int digits) {
  return written([&](char* first, char* last) {
    return std::to_chars(first, last, number, std::chars_format::fixed, digits);
  });
}

}  // namespace rota::base
