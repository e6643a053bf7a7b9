// A source file as the style rules look at it: its path, its text, and the code within the text.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rota::style {

struct Source {
  std::string path;  // From the project's root, with forward slashes: "lib/os/fd.h".
  std::string text;
};

struct Include {
  std::size_t line = 0;  // The first line is 1.
  bool angled = false;   // <path> rather than "path".
  std::string path;
};

// A broken rule: "lib/os/fd.h:12: what is wrong".
using Findings = std::vector<std::string>;

// A letter, a digit or an underscore.
bool is_word(char c);

// All C++ files below `root`/`folder`, in the order of their paths.
std::vector<Source> read_sources(const std::filesystem::path& root, const std::string& folder);

std::vector<std::string_view> lines_of(std::string_view text);

// The text with every character of a comment or a literal turned into a space. Newlines stay, so
// that a position in the code is the same position in the text.
std::string code_of(std::string_view text);

std::vector<Include> includes_of(const Source& source);

// True where `word` stands in `code` and is not a part of a longer word.
bool contains_word(std::string_view code, std::string_view word);

}  // namespace rota::style
