// The flags that rotarun knows: one table for parsing, for --help and for suggestions.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace rota::launcher {

// What rotarun tells itself, and nobody types.
inline constexpr std::string_view kInternal = "internal";

struct Flag {
  std::string_view group;       // Under which --help has it; none for kInternal.
  std::string_view short_name;  // One letter, or empty.
  std::string_view name;
  std::string_view value;  // What it takes, as --help names it; empty for a switch.
  std::string_view help;
};

std::span<const Flag> flags() noexcept;

// Finds a flag by its long or its short name, without hyphens; null where there is none.
const Flag* find_flag(std::string_view name) noexcept;

// What people type who come from mpirun and mpiexec: a flag that has another name here, or none.
struct Habit {
  std::string_view name;
  std::string_view flag;      // Here; empty: there is none.
  std::string_view before{};  // Around its value, as it is written here.
  std::string_view after{};
  std::string_view advice{};  // Where there is none: what to do instead.
};

// Null where there is none of that name, which is without hyphens.
const Habit* find_habit(std::string_view name) noexcept;

// The long name nearest to `name` in edits of one letter, or empty when none is near.
std::string_view nearest_flag(std::string_view name);

}  // namespace rota::launcher
