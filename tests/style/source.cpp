// Reads source files and separates code from comments and literals.
#include "style/source.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

namespace rota::style {
namespace {

// Returns the position after a literal that starts at `begin` with the quote text[begin].
std::size_t end_of_literal(std::string_view text, std::size_t begin) {
  std::size_t i = begin + 1;
  while (i < text.size() && text[i] != text[begin] && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

// Returns the same for the quote of a raw string, whose R is before `begin`.
std::size_t end_of_raw_string(std::string_view text, std::size_t begin) {
  const std::size_t parenthesis = text.find('(', begin);
  if (parenthesis == std::string_view::npos) return text.size();
  const std::string delimiter(text.substr(begin + 1, parenthesis - begin - 1));
  const std::string closing = ")" + delimiter + "\"";
  const std::size_t end = text.find(closing, parenthesis);
  return end == std::string_view::npos ? text.size() : end + closing.size();
}

// Returns the position after the comment or literal that starts at `i`, or `i` if none starts
// there.
std::size_t end_of_non_code(std::string_view text, std::size_t i) {
  const auto behind = [&](std::string_view closing) {
    const std::size_t end = text.find(closing, i + 2);
    return end == std::string_view::npos ? text.size() : end + closing.size();
  };
  if (text.substr(i, 2) == "//") return std::min(text.find('\n', i), text.size());
  if (text.substr(i, 2) == "/*") return behind("*/");
  const char before = i > 0 ? text[i - 1] : ' ';
  if (text[i] == '"') return before == 'R' ? end_of_raw_string(text, i) : end_of_literal(text, i);
  const bool separates_digits = is_word(before);
  if (text[i] == '\'' && !separates_digits) return end_of_literal(text, i);
  return i;
}

}  // namespace

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::vector<Source> read_sources(const std::filesystem::path& root, const std::string& folder) {
  std::vector<Source> sources;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
    const auto& path = entry.path();
    if (path.extension() != ".h" && path.extension() != ".cpp") continue;
    std::ifstream file(path, std::ios::binary);
    sources.push_back({path.lexically_relative(root).generic_string(),
                       std::string(std::istreambuf_iterator<char>(file), {})});
  }
  std::ranges::sort(sources, {}, &Source::path);
  return sources;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view trim(std::string_view text) {
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string at(const Source& source, std::size_t line) {
  return source.path + ":" + std::to_string(line) + ": ";
}

std::string code_of(std::string_view text) {
  std::string code(text);
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = end_of_non_code(text, i);
    for (std::size_t k = i; k < end; ++k) {
      if (code[k] != '\n') code[k] = ' ';
    }
    i = std::max(end, i + 1);
  }
  return code;
}

std::vector<Include> includes_of(const Source& source) {
  std::vector<Include> includes;
  std::size_t line_number = 0;
  for (std::string_view line : lines_of(source.text)) {
    ++line_number;
    const auto skip_spaces = [&] {
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    };
    skip_spaces();
    if (!line.starts_with('#')) continue;
    line.remove_prefix(1);
    skip_spaces();
    if (!line.starts_with("include")) continue;
    const std::size_t open = line.find_first_of("<\"");
    if (open == std::string_view::npos) continue;
    const bool angled = line[open] == '<';
    const std::size_t close = line.find(angled ? '>' : '"', open + 1);
    includes.push_back({line_number, angled, std::string(line.substr(open + 1, close - open - 1))});
  }
  return includes;
}

bool contains_word(std::string_view code, std::string_view word) {
  for (std::size_t i = code.find(word); i != std::string_view::npos; i = code.find(word, i + 1)) {
    const std::size_t end = i + word.size();
    const bool starts = i == 0 || !is_word(code[i - 1]);
    if (starts && (end == code.size() || !is_word(code[end]))) return true;
  }
  return false;
}

}  // namespace rota::style
