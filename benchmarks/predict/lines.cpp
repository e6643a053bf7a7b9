// Splits texts into words, and parses numbers in any locale of the process.
#include "predict/lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <system_error>

namespace rota::bench {
namespace {

constexpr std::string_view kSpaces = " \t\r";

std::vector<std::string> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string> words;
  for (std::size_t at = line.find_first_not_of(kSpaces); at < line.size();) {
    const std::size_t end = std::min(line.find_first_of(kSpaces, at), line.size());
    words.emplace_back(line.substr(at, end - at));
    at = std::min(line.find_first_not_of(kSpaces, end), line.size());
  }
  return words;
}

}  // namespace

std::vector<TextLine> lines_of_file(const std::string& name, std::string_view text,
                                    std::string_view form) {
  std::vector<TextLine> lines;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    auto words = words_of(text.substr(at, end - at));
    at = end + 1;
    ++number;
    if (words.empty()) continue;
    lines.push_back({name + " line " + std::to_string(number), std::move(words)});
  }
  const std::vector<std::string> head{std::string(form), "1"};
  if (lines.empty() || lines.front().words != head) {
    throw std::invalid_argument(name + " does not begin with '" + std::string(form) +
                                " 1', so it is not a file of this kind");
  }
  lines.erase(lines.begin());
  return lines;
}

void require_words(const TextLine& line, std::size_t count, std::string_view shape) {
  if (line.words.size() == count) return;
  throw std::invalid_argument(line.where + " has " + std::to_string(line.words.size()) +
                              " words; the form is: " + std::string(shape));
}

void require_once(const std::vector<TextLine>& lines, std::string_view repeated) {
  std::set<std::string> seen;
  for (const TextLine& line : lines) {
    const std::string& key = line.words.front();
    if (key == repeated || seen.insert(key).second) continue;
    throw std::invalid_argument(line.where + ": '" + key + "' is there twice");
  }
}

double number_in(const std::string& where, const std::string& what, std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    throw std::invalid_argument(where + ": " + what + " '" + std::string(text) +
                                "' is not a number");
  }
  if (std::isfinite(number)) return number;
  throw std::invalid_argument(where + ": " + what + " is " + std::string(text) +
                              "; it must be finite");
}

double positive_in(const std::string& where, const std::string& what, std::string_view text) {
  const double number = number_in(where, what, text);
  if (number > 0) return number;
  throw std::invalid_argument(where + ": " + what + " is " + std::string(text) +
                              "; it must be more than 0");
}

double at_least_zero_in(const std::string& where, const std::string& what, std::string_view text) {
  const double number = number_in(where, what, text);
  if (number >= 0) return number;
  throw std::invalid_argument(where + ": " + what + " is " + std::string(text) +
                              "; it must not be negative");
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) throw std::invalid_argument("cannot read " + path);
  return text;
}

}  // namespace rota::bench
