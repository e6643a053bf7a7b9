// Splits the system's configuration files into lines and words.
#pragma once
#include <string_view>
#include <vector>

namespace rota::names {

inline bool is_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }

std::vector<std::string_view> lines_of(std::string_view text);

// Returns the words of a line, up to a comment.
std::vector<std::string_view> words_of(std::string_view line);

// Returns whether two names are equal; case does not matter.
bool same_name(std::string_view one, std::string_view other) noexcept;

}  // namespace rota::names
