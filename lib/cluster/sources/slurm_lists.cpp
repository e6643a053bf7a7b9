// Expands the short forms in which Slurm writes long lists.
#include "cluster/sources/slurm_lists.h"

#include <algorithm>

#include "cluster/environment.h"
#include "cluster/host_names.h"

namespace rota::cluster {
namespace {

constexpr std::size_t kMostDigits = 9;

[[noreturn]] void refuse_list(const std::string& what, std::string_view text,
                              const std::string& why) {
  refuse(what + " is " + shown(text) + ": " + why);
}

// Returns the items of a list. Only commas outside of brackets separate items.
std::vector<std::string_view> items_of(const std::string& what, std::string_view text) {
  std::vector<std::string_view> items;
  std::size_t begin = 0;
  bool is_inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '[' && is_inside) || (c == ']' && !is_inside)) {
      refuse_list(what, text, "its brackets do not match");
    }
    if (c == '[' || c == ']') is_inside = c == '[';
    if (c != ',' || is_inside) continue;
    items.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  if (is_inside) refuse_list(what, text, "its brackets do not match");
  items.push_back(text.substr(begin));
  return items;
}

std::string padded(std::size_t number, std::size_t width) {
  const std::string digits = std::to_string(number);
  return std::string(width > digits.size() ? width - digits.size() : 0, '0') + digits;
}

// Adds the numbers of a range: "07-09" adds 07, 08, 09.
void add_range(const std::string& what, std::string_view range, std::vector<std::string>& numbers) {
  const std::size_t hyphen = range.find('-');
  const std::string_view low = range.substr(0, hyphen);
  const std::string_view high = hyphen == std::string_view::npos ? low : range.substr(hyphen + 1);
  const Range limits{.least = 0, .most = kMaxOrdinal};
  const std::size_t from = to_number("a number in " + what, low, limits);
  const std::size_t to = to_number("a number in " + what, high, limits);
  if (low.size() > kMostDigits || to < from) {
    refuse(what + " has the range " + shown(range) + ", which does not go up");
  }
  if (to - from >= kMaxRanks || numbers.size() + (to - from) >= kMaxRanks) {
    refuse(what + " has the range " + shown(range) + ": more than " + std::to_string(kMaxRanks) +
           " hosts");
  }
  for (std::size_t number = from; number <= to; ++number) {
    numbers.push_back(padded(number, low.size()));
  }
}

// Expands one item, which may have brackets in several places: r[1-2]n[1-3].
std::vector<std::string> expand_item(const std::string& what, std::string_view item) {
  std::vector<std::string> names{""};
  while (!item.empty()) {
    const std::size_t open = std::min(item.find('['), item.size());
    std::vector<std::string> ends{""};
    if (open < item.size()) {
      const std::size_t close = item.find(']', open);
      ends.clear();
      for (const std::string_view range : split(item.substr(open + 1, close - open - 1), ',')) {
        add_range(what, range, ends);
      }
    }
    if (names.size() * ends.size() > kMaxRanks) {
      refuse(what + " has " + shown(item) + ": more than " + std::to_string(kMaxRanks) + " hosts");
    }
    std::vector<std::string> longer;
    for (const std::string& name : names) {
      for (const std::string& end : ends) {
        longer.push_back(name + std::string(item.substr(0, open)) + end);
      }
    }
    names = std::move(longer);
    item.remove_prefix(std::min(item.find(']', open), item.size() - 1) + 1);
  }
  return names;
}

}  // namespace

std::vector<std::string> expand_node_list(const std::string& what, std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view item : items_of(what, text)) {
    for (std::string& name : expand_item(what, item)) {
      if (split_name(what, name).number) refuse_list(what, text, "a node's name has no colon");
      if (names.size() == kMaxRanks) {
        refuse_list(what, text, "more than " + std::to_string(kMaxRanks) + " hosts");
      }
      names.push_back(std::move(name));
    }
  }
  std::vector<std::string> sorted = names;
  std::ranges::sort(sorted);
  const auto twin = std::ranges::adjacent_find(sorted);
  if (twin != sorted.end()) refuse_list(what, text, "it has " + shown(*twin) + " twice");
  return names;
}

std::vector<std::size_t> expand_counts(const std::string& what, std::string_view text) {
  constexpr Range kCounts{.least = 1, .most = kMaxRanks};
  std::vector<std::size_t> counts;
  for (std::string_view item : split(text, ',')) {
    std::size_t repeat = 1;
    if (const std::size_t open = item.find("(x"); open != std::string_view::npos) {
      if (!item.ends_with(')')) refuse_list(what, text, "its brackets do not match");
      repeat = to_number("a repetition in " + what, item.substr(open + 2, item.size() - open - 3),
                         kCounts);
      item = item.substr(0, open);
    }
    const std::size_t count = to_number("a count in " + what, item, kCounts);
    if (counts.size() + repeat > kMaxRanks) {
      refuse_list(what, text, "more than " + std::to_string(kMaxRanks) + " hosts");
    }
    counts.insert(counts.end(), repeat, count);
  }
  return counts;
}

}  // namespace rota::cluster
