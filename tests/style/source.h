// A source file as the style rules see it: its path, its text, and the code within the text.
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

// Returns whether `c` is a letter, a digit or an underscore.
bool is_word(char c);

// Returns all C++ files below `root`/`folder`, ordered by path.
std::vector<Source> read_sources(const std::filesystem::path& root, const std::string& folder);

std::vector<std::string_view> lines_of(std::string_view text);

// Returns `text` without the spaces at both ends.
std::string_view trim(std::string_view text);

// Returns how a finding at a line begins: "lib/os/fd.h:12: ".
std::string at(const Source& source, std::size_t line);

// Returns the text with each character of a comment or literal replaced by a space. Newlines stay,
// so positions in the code are the same as in the text.
std::string code_of(std::string_view text);

std::vector<Include> includes_of(const Source& source);

// Returns whether `code` contains `word`, not as part of a longer word.
bool contains_word(std::string_view code, std::string_view word);

}  // namespace rota::style
