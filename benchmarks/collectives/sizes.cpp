// Parses and prints sizes in bytes.
#include "collectives/sizes.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace rota::bench {
namespace {

constexpr std::uint64_t kMaxNumber = std::uint64_t{1} << 32;  // No unit makes it overflow.

// Removes the digits at the start of `text` and returns their value. Returns 0 if there is no
// digit, or if the value is too large.
std::uint64_t take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  return parsed.ec == std::errc() && number <= kMaxNumber ? number : 0;
}

// Returns 0 if `text` is not a size, or if no memory can have this size.
std::size_t parse_size(std::string_view text) {
  std::uint64_t size = take_number(text);
  if (text == "K") {
    size <<= 10;
  } else if (text == "M") {
    size <<= 20;
  } else if (text == "G") {
    size <<= 30;
  } else if (!text.empty()) {
    return 0;
  }
  return size <= std::numeric_limits<std::size_t>::max() ? static_cast<std::size_t>(size) : 0;
}

[[noreturn]] void refuse(std::string_view entry) {
  throw std::invalid_argument("\"" + std::string(entry) +
                              "\" is neither a size, such as 4, 64K, 16M or 1G, nor a range of "
                              "sizes, such as 4:256M:x4");
}

// Appends the sizes of a range "FIRST:LAST:xFACTOR".
void append_range(std::vector<std::size_t>& sizes, std::string_view entry) {
  const std::size_t first_end = entry.find(':');
  const std::size_t last_end = std::min(entry.find(':', first_end + 1), entry.size());
  const std::size_t first = parse_size(entry.substr(0, first_end));
  const std::size_t last = parse_size(entry.substr(first_end + 1, last_end - first_end - 1));
  std::string_view rest = entry.substr(last_end);
  if (!rest.starts_with(":x")) refuse(entry);
  rest.remove_prefix(2);
  const std::uint64_t factor = take_number(rest);
  if (first == 0 || last < first || factor < 2 || !rest.empty()) refuse(entry);
  for (std::uint64_t bytes = first; bytes <= last; bytes *= factor) {
    sizes.push_back(static_cast<std::size_t>(bytes));
    if (bytes > last / factor) break;  // The next size might overflow.
  }
}

void append_entry(std::vector<std::size_t>& sizes, std::string_view entry) {
  if (entry.find(':') != std::string_view::npos) return append_range(sizes, entry);
  const std::size_t bytes = parse_size(entry);
  if (bytes == 0) refuse(entry);
  sizes.push_back(bytes);
}

}  // namespace

std::vector<std::size_t> parse_sizes(const std::string& text, std::string_view option) try {
  std::vector<std::size_t> sizes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    append_entry(sizes, std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
  return sizes;
} catch (const std::invalid_argument& error) {
  throw std::invalid_argument("--" + std::string(option) + ": " + error.what());
}

std::string to_words(std::size_t bytes) {
  constexpr std::string_view kUnits[] = {" B", " KiB", " MiB", " GiB"};
  std::size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + std::string(kUnits[unit]);
}

}  // namespace rota::bench
