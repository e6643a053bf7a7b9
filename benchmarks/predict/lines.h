// Reads the lines of the text files of `rota-bench predict`: words, and numbers that must be in a
// range. Every refusal names the file and the line.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rota::bench {

// A line that is neither empty nor a comment.
struct TextLine {
  std::string where;               // "FILE line 3"
  std::vector<std::string> words;  // At least one.
};

// Splits a text into its lines. `name` names the text in errors. Throws std::invalid_argument
// unless the first line is "`form` 1".
std::vector<TextLine> lines_of_file(const std::string& name, std::string_view text,
                                    std::string_view form);

// Throws std::invalid_argument unless the line has `count` words. `shape` shows such a line.
void require_words(const TextLine& line, std::size_t count, std::string_view shape);

// Throws std::invalid_argument if two lines begin with the same word, other than `repeated`.
void require_once(const std::vector<TextLine>& lines, std::string_view repeated);

// Parses a finite number. `what` names it in errors. Throws std::invalid_argument.
double number_in(const std::string& where, const std::string& what, std::string_view text);

// Parses a finite number above 0.
double positive_in(const std::string& where, const std::string& what, std::string_view text);

// Parses a finite number that is at least 0.
double at_least_zero_in(const std::string& where, const std::string& what, std::string_view text);

// Returns the text of a file. Throws std::invalid_argument if the file cannot be read.
std::string text_of_file(const std::string& path);

}  // namespace rota::bench
