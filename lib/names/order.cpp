// Compares names run by run. A run has only digits, or no digit.
#include "names/order.h"

#include <algorithm>
#include <compare>

namespace rota::names {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Removes the first run from the text, and returns the run.
std::string_view take_run(std::string_view& text) noexcept {
  const bool wants_digits = is_digit(text.front());
  std::size_t end = 1;
  while (end < text.size() && is_digit(text[end]) == wants_digits) ++end;
  const std::string_view run = text.substr(0, end);
  text.remove_prefix(end);
  return run;
}

std::string_view without_zeros(std::string_view digits) noexcept {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

std::strong_ordering compare_runs(std::string_view one, std::string_view other) noexcept {
  if (!is_digit(one.front()) || !is_digit(other.front())) return one <=> other;
  const std::string_view first = without_zeros(one);
  const std::string_view second = without_zeros(other);
  return first.size() != second.size() ? first.size() <=> second.size() : first <=> second;
}

}  // namespace

bool comes_before(std::string_view one, std::string_view other) noexcept {
  std::string_view first = one;
  std::string_view second = other;
  while (!first.empty() && !second.empty()) {
    const auto order = compare_runs(take_run(first), take_run(second));
    if (std::is_neq(order)) return std::is_lt(order);
  }
  if (first.empty() != second.empty()) return first.empty();
  return one < other;  // Equal as numbers: "a-01" and "a-1".
}

}  // namespace rota::names
