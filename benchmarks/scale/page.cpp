// Groups rows by table and job, and takes medians and ratios.
#include "scale/page.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <istream>
#include <utility>

#include "contest/rounds.h"
#include "plot/chart.h"
#include "statistics.h"

namespace rota::bench {
namespace {

using Rows = std::vector<ScaleRow>;
using Job = ScaleTable::Job;

constexpr std::size_t kLongestCell = 100;

template <class... Arguments>
std::string cell(const char* pattern, Arguments... arguments) {
  std::array<char, kLongestCell> text{};
  std::snprintf(text.data(), text.size(), pattern, arguments...);
  return text.data();
}

std::string network_of(const ScaleRow& row) {
  return row.megabits ? "hosts at " + rate_text(*row.megabits) : "one host";
}

std::string title_of(const ScaleRow& row) {
  return row.model + (row.is_real ? ", trained" : "") + ", " + to_string(row.scaling) +
         " scaling, " + network_of(row);
}

ScaleTable& table_for(std::vector<ScaleTable>& tables, const ScaleRow& row) {
  const std::string title = title_of(row);
  const auto found = std::ranges::find(tables, title, &ScaleTable::title);
  if (found != tables.end()) return *found;
  return tables.emplace_back(ScaleTable{.title = title, .jobs = {}});
}

Job& job_for(ScaleTable& table, const ScaleRow& row) {
  for (Job& job : table.jobs) {
    if (job.ranks == row.ranks && job.hosts == row.hosts) return job;
  }
  return table.jobs.emplace_back(Job{.ranks = row.ranks, .hosts = row.hosts, .rows = {}});
}

// Returns the medians of each round.
std::vector<double> medians_of(const Rows& rows, Range ScaleRow::*quantity) {
  std::vector<double> medians;
  medians.reserve(rows.size());
  for (const ScaleRow& row : rows) medians.push_back((row.*quantity).median);
  return medians;
}

std::string milliseconds_of(const Rows& rows, Range ScaleRow::*quantity) {
  return cell("%.2f", median(medians_of(rows, quantity)) * 1e3);
}

std::string efficiency_of(const Rows& rows) {
  const std::vector<double> shares = medians_of(rows, &ScaleRow::efficiency);
  return cell("%.1f %% (%.1f to %.1f)", median(shares) * 1e2, std::ranges::min(shares) * 1e2,
              std::ranges::max(shares) * 1e2);
}

// Returns 0 if no bound is known.
double most_efficiency_of(const Rows& rows) {
  std::vector<double> shares;
  for (const ScaleRow& row : rows) {
    if (row.least_step > 0) shares.push_back(row.most_efficiency());
  }
  return shares.empty() ? 0 : median(shares);
}

const Rows* rows_of(const Job& job, const std::string& ours) {
  const auto found = job.rows.find(ours);
  return found == job.rows.end() ? nullptr : &found->second;
}

// Returns our step divided by the step of a library, or a dash if ours was not measured.
std::string ratio_to(const Rows* ours, const Rows& theirs) {
  if (ours == nullptr) return "-";
  const Ratio ratio =
      ratio_of(medians_of(*ours, &ScaleRow::step), medians_of(theirs, &ScaleRow::step));
  return cell("%.2f (%.2f to %.2f)", ratio.median, ratio.least, ratio.most);
}

std::string lines_of(const Job& job, const std::string& ours) {
  std::string text;
  const Rows* const own = rows_of(job, ours);
  for (const auto& named : job.rows) {
    const Rows& rows = named.second;
    const double most = most_efficiency_of(rows);
    text += cell("| %zu | %zu | %s", job.ranks, job.hosts, rows.front().full_name().c_str());
    for (const auto quantity :
         {&ScaleRow::step, &ScaleRow::waiting, &ScaleRow::computing, &ScaleRow::communication}) {
      text += " | " + milliseconds_of(rows, quantity);
    }
    text += " | " + efficiency_of(rows);
    text += " | " + (most > 0 ? cell("%.1f %%", most * 1e2) : "-");
    text += " | " + ratio_to(own, rows) + " |\n";
  }
  return text;
}

std::string text_of(const ScaleTable& table, const std::string& ours) {
  std::string text = "**" + table.title + ": measured**\n\n" +
                     "| ranks | hosts | | step, ms | of it waiting for sums | computing alone " +
                     "| communication alone | efficiency | bytes allow, computed | " + ours +
                     " / this |\n|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const Job& job : table.jobs) text += lines_of(job, ours);
  return text + "\n";
}

bool is_drawn(const ScaleTable& table) {
  const ScaleRow& first = table.jobs.front().rows.begin()->second.front();
  return !first.is_real && first.scaling == Scaling::kWeak;
}

Chart chart_of(const ScaleTable& table) {
  Chart chart{.title = table.title, .curves = {}};
  const auto add = [&](const std::string& name, std::size_t ranks, double share) {
    auto curve = std::ranges::find(chart.curves, name, &Curve::name);
    if (curve == chart.curves.end()) {
      curve = chart.curves.insert(curve, Curve{.name = name, .points = {}});
    }
    curve->points.push_back({ranks, share});
  };
  for (const Job& job : table.jobs) {
    for (const auto& [name, rows] : job.rows) {
      add(name, job.ranks, median(medians_of(rows, &ScaleRow::efficiency)));
    }
    const double most = most_efficiency_of(job.rows.begin()->second);
    if (most > 0) add("bytes allow, computed", job.ranks, most);
  }
  return chart;
}

}  // namespace

std::vector<ScaleTable> scale_tables_from(std::istream& lines) {
  std::vector<ScaleTable> tables;
  for (std::string line; std::getline(lines, line);) {
    ScaleRow row = scale_row_from(line);
    Rows& rows = job_for(table_for(tables, row), row).rows[row.name];
    rows.push_back(std::move(row));
  }
  return tables;
}

std::string markdown_of(const std::vector<ScaleTable>& tables, const std::string& ours) {
  std::string text;
  for (const ScaleTable& table : tables) text += text_of(table, ours);
  return text;
}

std::string drawing_of(const std::vector<ScaleTable>& tables, const std::string& title) {
  std::vector<Chart> charts;
  for (const ScaleTable& table : tables) {
    if (is_drawn(table)) charts.push_back(chart_of(table));
  }
  return draw_charts(title, charts, Axes::kEfficiencyByWorkers);
}

}  // namespace rota::bench
