// Formats contests as Markdown tables and as charts.
#include "contest/report.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "collectives/sizes.h"
#include "contest/verdict.h"
#include "plot/chart.h"
#include "statistics.h"

namespace rota::bench {
namespace {

constexpr const char* kNothing = "–";

using Cells = std::vector<std::string>;

// Prints the number with about three significant digits.
std::string microseconds(double seconds) {
  const double value = seconds * 1e6;
  const int digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string ratio_text(const Ratio& ratio) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.2f (%.2f to %.2f)", ratio.median, ratio.least,
                ratio.most);
  return text.data();
}

std::string percent_text(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f %%", share * 100);
  return text.data();
}

// Returns the columns: Roles::ours first, then rota's other contestants, then the peers by name,
// then the limit.
std::vector<std::string> names_of(const Contest& contest, const Roles& roles) {
  std::vector<std::string> names;
  for (const auto& [bytes, contestants] : contest.sizes) {
    for (const auto& [name, times] : contestants) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  const auto place = [&](const std::string& name) {
    if (name == roles.ours || name == roles.baseline) return 0;
    if (is_own(roles, name)) return 1;
    return name == roles.limit ? 3 : 2;
  };
  std::ranges::sort(names, [&](const std::string& a, const std::string& b) {
    return place(a) != place(b) ? place(a) < place(b) : a < b;
  });
  return names;
}

// Appends a cell for each contestant except the baseline: its time divided by the baseline's time.
void add_ratios(const Contestants& contestants, const std::vector<std::string>& names,
                const std::string& baseline, Cells& cells) {
  const auto divisor = contestants.find(baseline);
  for (const std::string& name : names) {
    if (name == baseline) continue;
    const auto found = contestants.find(name);
    const bool has_both = found != contestants.end() && divisor != contestants.end();
    cells.push_back(has_both ? ratio_text(ratio_of(found->second, divisor->second)) : kNothing);
  }
}

// Appends a cell for each of rota's contestants: its time divided by the best peer's time.
void add_ratios_to_peers(const Contestants& contestants, const std::vector<std::string>& names,
                         const Roles& roles, Cells& cells) {
  const BestPeer peer = best_peer(contestants, roles);
  for (const std::string& name : names) {
    if (!is_own(roles, name)) continue;
    const auto found = contestants.find(name);
    const bool has_both = found != contestants.end() && !peer.seconds.empty();
    cells.push_back(has_both ? ratio_text(ratio_of(found->second, peer.seconds)) : kNothing);
  }
}

Cells cells_of(std::size_t bytes, const Contestants& contestants,
               const std::vector<std::string>& names, const Roles& roles) {
  Cells cells = {to_words(bytes)};
  for (const std::string& name : names) {
    const auto found = contestants.find(name);
    cells.push_back(found == contestants.end() ? kNothing : microseconds(median(found->second)));
  }
  if (!roles.baseline.empty()) {
    add_ratios(contestants, names, roles.baseline, cells);
    return cells;
  }
  add_ratios_to_peers(contestants, names, roles, cells);
  if (std::ranges::find(names, roles.limit) != names.end()) {
    const auto ours = contestants.find(roles.ours);
    const auto limit = contestants.find(roles.limit);
    const bool has_both = ours != contestants.end() && limit != contestants.end();
    cells.push_back(has_both ? percent_text(share_of(limit->second, ours->second)) : kNothing);
  }
  return cells;
}

Cells head_of(const std::vector<std::string>& names, const Roles& roles) {
  Cells head = {"size"};
  for (const std::string& name : names) head.push_back(name + ", µs");
  if (!roles.baseline.empty()) {
    for (const std::string& name : names) {
      if (name != roles.baseline) head.push_back(name + " / " + roles.baseline);
    }
    return head;
  }
  for (const std::string& name : names) {
    if (is_own(roles, name)) head.push_back(name + " / best peer");
  }
  if (std::ranges::find(names, roles.limit) != names.end()) {
    head.push_back("share of the " + roles.limit);
  }
  return head;
}

std::string line_of(const Cells& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + cell + " |";
  return line + "\n";
}

// Returns a sentence with the sizes that have no line in the table, and why.
std::string left_out_of(const Contest& contest) {
  if (contest.left_out.empty()) return "";
  std::string sizes;
  for (const std::size_t bytes : contest.left_out) {
    sizes += (sizes.empty() ? "" : ", ") + to_words(bytes);
  }
  return "The table leaves out sizes at which an isolated call of at least one program takes less "
         "than 1 µs: " +
         sizes + ".\n\n";
}

std::string table_of(const Contest& contest, const Roles& roles) {
  const std::vector<std::string> names = names_of(contest, roles);
  const Cells head = head_of(names, roles);
  std::string text = "**" + contest.title + "**\n\n" + line_of(head) + "|---|";
  for (std::size_t column = 1; column < head.size(); ++column) text += "---:|";
  text += "\n";
  for (const auto& [bytes, contestants] : contest.sizes) {
    text += line_of(cells_of(bytes, contestants, names, roles));
  }
  text += "\n";
  if (roles.baseline.empty()) text += verdict_of(contest, roles);
  return text + left_out_of(contest);
}

Chart chart_of(const Contest& contest, const Roles& roles) {
  Chart chart{.title = contest.title, .curves = {}};
  for (const std::string& name : names_of(contest, roles)) {
    Curve curve{.name = name, .points = {}};
    for (const auto& [bytes, contestants] : contest.sizes) {
      const auto found = contestants.find(name);
      if (found != contestants.end()) curve.points.push_back({bytes, median(found->second)});
    }
    chart.curves.push_back(std::move(curve));
  }
  return chart;
}

}  // namespace

std::string markdown_of(const std::vector<Contest>& contests, const Roles& roles) {
  std::string text;
  for (const Contest& contest : contests) {
    if (!contest.sizes.empty()) text += table_of(contest, roles);
  }
  return text;
}

std::string drawing_of(const std::vector<Contest>& contests, const Roles& roles,
                       const std::string& title) {
  std::vector<Chart> charts;
  for (const Contest& contest : contests) {
    const bool is_shown = contest.calls == Calls::kIsolated && !contest.sizes.empty();
    if (is_shown) charts.push_back(chart_of(contest, roles));
  }
  return draw_charts(title, charts);
}

}  // namespace rota::bench
