// Parses lines such as "10.0.0.1 one other": a numeric address, and its names.
#include "names/hosts_file.h"

#include <algorithm>
#include <string>

#include "names/words.h"

namespace rota::names {

std::vector<os::Address> addresses_in(std::string_view text, std::string_view name,
                                      std::string_view port) {
  if (name.ends_with('.')) name.remove_suffix(1);
  std::vector<os::Address> addresses;
  for (const std::string_view line : lines_of(text)) {
    const auto words = words_of(line);
    const auto is_it = [&](std::string_view word) { return same_name(word, name); };
    if (words.empty() || std::none_of(words.begin() + 1, words.end(), is_it)) continue;
    const auto address = os::numeric_address({std::string(words.front()), std::string(port)});
    if (!address) continue;
    const bool is_new = std::ranges::none_of(
        addresses, [&](const os::Address& one) { return one.to_text() == address->to_text(); });
    if (is_new) addresses.push_back(*address);
  }
  return addresses;
}

}  // namespace rota::names
