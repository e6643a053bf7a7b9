// Variables by their names. They are given: this folder never asks the process for its own.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cluster/refusal.h"

namespace rota::cluster {

// Ordinals may start anywhere.
inline constexpr std::size_t kMaxOrdinal = 1'000'000'000;

// "1" and "0"; nothing is "0". Empty where the text is something else.
std::optional<bool> parse_switch(std::string_view text);

// Of "NAME=VALUE": the value of a variable, or empty; and whether it is set. The first of a name
// holds.
std::string find_variable(std::span<const std::string> entries, std::string_view name);
bool is_set(std::span<const std::string> entries, std::string_view name);

class Environment {
 public:
  Environment() = default;

  // Of "NAME=VALUE". The first of a name holds, as it does for getenv.
  explicit Environment(std::span<const std::string> entries);

  bool has(std::string_view name) const { return find(name) != nullptr; }
  const std::string* find(std::string_view name) const;  // Null where it is not set.
  std::string text(std::string_view name) const;         // Empty where it is not set.

  // Empty where it is not set. Throws Error kInvalidArgument where it is no number in the range.
  std::optional<std::size_t> number(std::string_view name, Range range) const;

  // Throws also where it is not set. `why` goes on after "is not set, ".
  std::size_t needed_number(std::string_view name, Range range, const std::string& why) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace rota::cluster
