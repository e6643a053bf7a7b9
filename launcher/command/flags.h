// Has the flags that rotarun knows, in one table for parsing, --help and suggestions.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace rota::launcher {

// The group of the flags that one rotarun gives to another rotarun. Users do not type these flags.
inline constexpr std::string_view kInternal = "internal";

struct Flag {
  std::string_view group;       // The heading in --help; kInternal is not shown.
  std::string_view short_name;  // One letter, or empty.
  std::string_view name;
  std::string_view value;  // How --help names the flag's value; empty for a switch.
  std::string_view help;
};

std::span<const Flag> flags() noexcept;

// Finds a flag by its long or its short name, without hyphens; null if there is none.
const Flag* find_flag(std::string_view name) noexcept;

// A flag of mpirun, mpiexec, torchrun or horovodrun that people may also try with rotarun. rotarun
// has another name for the flag, or no equivalent.
struct Habit {
  std::string_view name;
  std::string_view flag;      // rotarun's flag; empty: no equivalent.
  std::string_view before{};  // Text to put before the value; `after`: text to put after it.
  std::string_view after{};
  std::string_view advice{};  // If there is no equivalent: what to do instead.
};

// Finds a habit by its name, without hyphens in front; null if there is none.
const Habit* find_habit(std::string_view name) noexcept;

// Returns the long name with the smallest edit distance from `name`; empty if none is near.
std::string_view nearest_flag(std::string_view name);

}  // namespace rota::launcher
