// Splits text into lines, and lines into words.
#include "names/words.h"

#include <algorithm>

namespace rota::names {
namespace {

// Converts only ASCII letters, whatever the locale.
char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const auto* const begin = std::ranges::find_if_not(line, is_space);
    line.remove_prefix(static_cast<std::size_t>(begin - line.begin()));
    if (line.empty() || line.front() == '#' || line.front() == ';') return words;
    const auto* const end = std::ranges::find_if(line, is_space);
    words.push_back(line.substr(0, static_cast<std::size_t>(end - line.begin())));
    line.remove_prefix(words.back().size());
  }
}

bool same_name(std::string_view one, std::string_view other) noexcept {
  return std::ranges::equal(one, other, {}, lower, lower);
}

}  // namespace rota::names
