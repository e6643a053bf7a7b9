// Finds the next free place in the order of the names.
#include "exports/event_file_name.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace rota::exports {
namespace {

constexpr std::string_view kPrefix = "events.out.tfevents.";
constexpr std::string_view kMark = "tfevents";  // Readers read files with this in the name.
constexpr std::size_t kDigits = 10;             // Until the year 2286.

std::string with_zeros(std::int64_t seconds) {
  std::string text = std::to_string(seconds);
  if (text.size() < kDigits) text.insert(0, kDigits - text.size(), '0');
  return text;
}

}  // namespace

bool is_event_file(std::string_view name) noexcept {
  return name.find(kMark) != std::string_view::npos;
}

std::string name_event_file(const EventFileOrigin& origin, std::span<const std::string> names) {
  std::string last;
  for (const std::string& name : names) {
    if (is_event_file(name)) last = std::max(last, name);
  }
  const std::string rest = "." + origin.host + "." + std::to_string(origin.process) + "." +
                           std::to_string(origin.number);
  const std::string prefix(kPrefix);
  std::string name = prefix + with_zeros(origin.seconds) + rest;
  if (name > last) return name;
  std::int64_t last_seconds = 0;
  if (last.starts_with(kPrefix)) {
    const char* const digits = last.data() + kPrefix.size();
    std::from_chars(digits, digits + std::min(kDigits, last.size() - kPrefix.size()), last_seconds);
  }
  name = prefix + with_zeros(last_seconds + 1) + rest;
  if (name > last) return name;
  // The last name has another form. A longer name sorts behind a name that it begins with.
  return last + rest;
}

}  // namespace rota::exports
