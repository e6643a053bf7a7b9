// Looks up environment variables by name.
#include "cluster/environment.h"

#include <algorithm>

namespace rota::cluster {
namespace {

auto entry_of(std::span<const std::string> entries, std::string_view name) {
  return std::ranges::find_if(entries, [&](std::string_view entry) {
    return entry.starts_with(name) && entry.substr(name.size()).starts_with('=');
  });
}

}  // namespace

std::string find_variable(std::span<const std::string> entries, std::string_view name) {
  const auto entry = entry_of(entries, name);
  return entry == entries.end() ? std::string() : entry->substr(name.size() + 1);
}

bool is_set(std::span<const std::string> entries, std::string_view name) {
  return entry_of(entries, name) != entries.end();
}

std::optional<bool> parse_switch(std::string_view text) {
  if (text.empty() || text == "0") return false;
  return text == "1" ? std::optional(true) : std::nullopt;
}

Environment::Environment(std::span<const std::string> entries) {
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    values_.try_emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
}

const std::string* Environment::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

std::string Environment::text(std::string_view name) const {
  const std::string* value = find(name);
  return value ? *value : std::string();
}

std::vector<std::string> Environment::names_like(std::string_view begin,
                                                 std::string_view end) const {
  std::vector<std::string> names;
  for (const auto& [name, value] : values_) {
    const bool is_long = name.size() > begin.size() + end.size();
    if (is_long && name.starts_with(begin) && name.ends_with(end) && !value.empty()) {
      names.push_back(name);
    }
  }
  return names;
}

std::optional<std::size_t> Environment::number(std::string_view name, Range range) const {
  const std::string* value = find(name);
  if (!value) return std::nullopt;
  return to_number(std::string(name), *value, range);
}

std::size_t Environment::needed_number(std::string_view name, Range range,
                                       const std::string& why) const {
  const auto value = number(name, range);
  if (!value) refuse(std::string(name) + " is not set, " + why);
  return *value;
}

}  // namespace rota::cluster
