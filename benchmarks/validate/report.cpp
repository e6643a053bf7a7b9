// Groups points into tables: one for each rate, each number of ranks on a host and each kind of
// work. A table has a column for each number of hosts.
#include "validate/report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <utility>

#include "base/counted.h"
#include "collectives/sizes.h"
#include "scale/row.h"

namespace rota::bench {
namespace {

constexpr std::size_t kLongestText = 100;

template <class... Arguments>
std::string text(const char* pattern, Arguments... arguments) {
  std::array<char, kLongestText> characters{};
  std::snprintf(characters.data(), characters.size(), pattern, arguments...);
  return characters.data();
}

std::string line_of(const Criterion& criterion) {
  const double share = criterion.judged == 0 ? 0
                                             : static_cast<double>(criterion.within) /
                                                   static_cast<double>(criterion.judged);
  return "| " + criterion.points +
         text(" | %zu | %.0f %% | %.1f %% | %.0f %% | ", criterion.judged,
              criterion.allowed_error * 1e2, share * 1e2, criterion.wanted_share * 1e2) +
         (criterion.is_met() ? "met" : "**missed**") + " |\n";
}

const char* to_text(Notice notice) {
  switch (notice) {
    case Notice::kYes:
      return "met";
    case Notice::kNo:
      return "**missed**";
    case Notice::kNotJudged:
      break;
  }
  return "not judged";
}

std::string summary_of(const Validation& validation) {
  std::string lines =
      "| points | measured | allowed error | points within it | wanted | |\n"
      "|---|---:|---:|---:|---:|---|\n";
  for (const Criterion& criterion : validation.criteria) lines += line_of(criterion);
  lines +=
      "| the same points, predicted with half of each latency | | | | a criterion is missed | ";
  return lines + to_text(validation.of_half_latency) + " |\n\n";
}

std::string misses_of(const Validation& validation) {
  std::string lines;
  for (const ValidatedPoint& point : validation.points) {
    if (!point.is_measured() || !point.is_miss()) continue;
    lines +=
        "- " + name_of(point.point) +
        text(": measured %.2f ms, predicted %.2f ms, %+.0f %%.\n", point.measured_seconds() * 1e3,
             point.predicted.seconds * 1e3, point.error() * 1e2);
  }
  return "**Misses**\n\n" + (lines.empty() ? "There are none.\n" : lines) + "\n";
}

std::string left_out_of(const Validation& validation) {
  std::string lines;
  for (const ValidatedPoint& point : validation.points) {
    if (point.is_measured()) continue;
    lines += "- " + name_of(point.point) + ": " +
             (point.is_too_long() ? text("predicted to take %.2f s.\n", point.predicted.seconds)
                                  : "not measured.\n");
  }
  return lines.empty() ? lines : "**Left out**\n\n" + lines + "\n";
}

std::string cell_of(const ValidatedPoint& point) {
  if (!point.is_measured()) return "left out";
  return text("m %.2f, p %.2f, %+.0f %%", point.measured_seconds() * 1e3,
              point.predicted.seconds * 1e3, point.error() * 1e2) +
         (point.is_bound_by_bytes() ? " B" : "") + (point.is_unsteady() ? " U" : "") +
         (point.is_miss() ? " X" : "");
}

struct HostsTable {
  std::string title;
  std::string head;  // Of the first two columns, as is `label`.
  std::set<std::size_t> hosts{};
  struct Line {
    std::string label;
    std::vector<std::pair<std::size_t, std::string>> cells{};  // By hosts.
  };
  std::vector<Line> lines{};
};

std::string title_of(const ValidationPoint& point) {
  const ValidatedWorld& world = point.world;
  return (point.is_training() ? "paced training, " : "all-reduce, ") +
         base::counted_ranks(world.ranks_per_host) + " on each host, " +
         rate_text(static_cast<double>(world.megabits));
}

std::string label_of(const ValidationPoint& point) {
  if (point.is_training()) return point.model + " | " + to_string(point.scaling);
  return std::string(to_string(point.plan)) + " | " + to_words(point.bytes);
}

HostsTable& table_of(std::vector<HostsTable>& tables, const ValidationPoint& point) {
  const std::string title = title_of(point);
  const auto found = std::ranges::find(tables, title, &HostsTable::title);
  if (found != tables.end()) return *found;
  return tables.emplace_back(
      HostsTable{.title = title, .head = point.is_training() ? "model | scaling" : "plan | bytes"});
}

HostsTable::Line& line_for(HostsTable& table, const std::string& label) {
  const auto found = std::ranges::find(table.lines, label, &HostsTable::Line::label);
  return found != table.lines.end() ? *found
                                    : table.lines.emplace_back(HostsTable::Line{.label = label});
}

std::vector<HostsTable> tables_of(const Validation& validation) {
  std::vector<HostsTable> tables;
  for (const ValidatedPoint& point : validation.points) {
    HostsTable& table = table_of(tables, point.point);
    table.hosts.insert(point.point.world.hosts);
    line_for(table, label_of(point.point))
        .cells.emplace_back(point.point.world.hosts, cell_of(point));
  }
  return tables;
}

std::string line_of(const HostsTable::Line& line, const std::set<std::size_t>& hosts) {
  std::string cells = "| " + line.label;
  for (const std::size_t count : hosts) {
    const auto found =
        std::ranges::find(line.cells, count, [](const auto& cell) { return cell.first; });
    cells += " | " + (found == line.cells.end() ? "" : found->second);
  }
  return cells + " |\n";
}

std::string markdown_of(const HostsTable& table) {
  std::string lines = "**" + table.title + "**\n\n| " + table.head;
  std::string rule = "|---|---:";
  for (const std::size_t count : table.hosts) {
    lines += " | " + std::to_string(count) + " hosts, ms";
    rule += "|---";
  }
  lines += " |\n" + rule + "|\n";
  for (const HostsTable::Line& line : table.lines) lines += line_of(line, table.hosts);
  return lines + "\n";
}

}  // namespace

std::string to_markdown(const Validation& validation) {
  std::string page = summary_of(validation) + misses_of(validation) + left_out_of(validation);
  for (const HostsTable& table : tables_of(validation)) page += markdown_of(table);
  return page;
}

}  // namespace rota::bench
