// Words in the lines of the system's files.
#pragma once
#include <string_view>
#include <vector>

namespace rota::names {

inline bool is_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }

std::vector<std::string_view> lines_of(std::string_view text);

// Up to where a comment begins.
std::vector<std::string_view> words_of(std::string_view line);

// Names know no case.
bool same_name(std::string_view one, std::string_view other) noexcept;

}  // namespace rota::names
