// Reads the numbers of options, which are texts for cxxopts. cxxopts itself takes 10x for 10, and
// some numbers that are too large modulo 2^64, and its errors name no option.
#pragma once
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cxxopts.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace rota::bench {

// All functions throw std::invalid_argument, with the name of the option.

template <class Number>
Number read_number(const std::string& option, std::string_view text, const char* kind) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec == std::errc() && parsed.ptr == end) return number;
  throw std::invalid_argument("--" + option + ": '" + std::string(text) + "' is not " + kind);
}

inline std::size_t whole_number_in(const std::string& option, std::string_view text) {
  return read_number<std::size_t>(option, text, "a whole number");
}

inline std::size_t whole_number_of(const cxxopts::ParseResult& given, const std::string& option) {
  return whole_number_in(option, given[option].as<std::string>());
}

// Requires a number of at least 1.
inline std::size_t count_of_option(const cxxopts::ParseResult& given, const std::string& option) {
  const std::size_t count = whole_number_of(given, option);
  if (count > 0) return count;
  throw std::invalid_argument("--" + option + " is 0; it must be at least 1");
}

// Requires a finite number that is more than 0.
inline double positive_number_of(const cxxopts::ParseResult& given, const std::string& option) {
  const auto text = given[option].as<std::string>();
  const auto number = read_number<double>(option, text, "a number");
  if (std::isfinite(number) && number > 0) return number;
  throw std::invalid_argument("--" + option + " is " + text +
                              "; it must be finite and more than 0");
}

}  // namespace rota::bench
