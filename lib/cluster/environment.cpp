// Variables by their names.
#include "cluster/environment.h"

namespace rota::cluster {

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
