// Finds environment variables by name. The caller passes the variables in: code in this folder
// never reads the environment of its own process.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/refusal.h"

namespace rota::cluster {

// The largest ordinal or index of a pod. Ordinals may start at any number.
inline constexpr std::size_t kMaxOrdinal = 1'000'000'000;

// Returns true for "1", false for "0" and for an empty string, and no value for any other string.
std::optional<bool> parse_switch(std::string_view text);

// `entries` are "NAME=VALUE". find_variable() returns the value of the variable, or an empty
// string. is_set() returns whether the variable is set. If a name occurs twice, its first entry
// counts.
std::string find_variable(std::span<const std::string> entries, std::string_view name);
bool is_set(std::span<const std::string> entries, std::string_view name);

class Environment {
 public:
  Environment() = default;

  // `entries` are "NAME=VALUE". If a name occurs twice, its first entry counts, as for getenv.
  explicit Environment(std::span<const std::string> entries);

  bool has(std::string_view name) const { return find(name) != nullptr; }
  const std::string* find(std::string_view name) const;  // Returns null if it is not set.
  std::string text(std::string_view name) const;         // Returns "" if it is not set.

  // Returns the names of the variables that begin and end so, and are not empty, in their order.
  std::vector<std::string> names_like(std::string_view begin, std::string_view end) const;

  // Returns nothing if the variable is not set. Throws Error kInvalidArgument if its value is not a
  // number in the range.
  std::optional<std::size_t> number(std::string_view name, Range range) const;

  // Works like number(), but also throws if the variable is not set. `why` continues the error text
  // "NAME is not set, ".
  std::size_t needed_number(std::string_view name, Range range, const std::string& why) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace rota::cluster
