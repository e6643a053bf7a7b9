// The flags that rotarun knows: one table for parsing, for --help and for suggestions.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace rota::launcher {

struct Flag {
  std::string_view short_name;  // One letter, or empty.
  std::string_view name;
  std::string_view value;  // What it takes, as --help names it; empty for a switch.
  std::string_view help;
};

std::span<const Flag> flags() noexcept;

// Finds a flag by its long or its short name, without hyphens; null where there is none.
const Flag* find_flag(std::string_view name) noexcept;

// The long name nearest to `name` in edits of one letter, or empty when none is near.
std::string_view nearest_flag(std::string_view name);

}  // namespace rota::launcher
