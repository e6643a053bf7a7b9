// Compares medians with bounds.
#include "scale/verdict.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "statistics.h"

namespace rota::bench {
namespace {

constexpr double kWantedEfficiency = 0.95;
constexpr double kJudgedMegabits = 1000;
constexpr std::size_t kJudgedHosts = 8;

double median_efficiency(const std::vector<ScaleRow>& rows) {
  std::vector<double> shares;
  shares.reserve(rows.size());
  for (const ScaleRow& row : rows) shares.push_back(row.efficiency.median);
  return median(shares);
}

std::string percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", share * 1e2);
  return text.data();
}

bool is_judged(const ScaleTable::Job& job, const ScaleRow& row) {
  return !row.is_real && row.scaling == Scaling::kWeak && row.megabits == kJudgedMegabits &&
         job.hosts == kJudgedHosts && job.ranks == kJudgedHosts;
}

std::string item(bool is_met, const std::string& text) {
  return (is_met ? "- met: " : "- **missed**: ") + text + ".\n";
}

std::string verdicts_on(const std::string& title, const ScaleTable::Job& job,
                        const std::string& ours) {
  const std::vector<ScaleRow>& rows = job.rows.at(ours);
  const double share = median_efficiency(rows);
  const double bound = std::min(kWantedEfficiency, rows.front().most_efficiency());
  const std::string what = title + ", 8 hosts: the efficiency of " + ours + " is " + percent(share);
  std::string text = item(share >= bound, what + "; the bound is at least " + percent(bound));
  std::string best;
  double best_share = 0;
  for (const auto& [name, theirs] : job.rows) {
    if (name == ours || median_efficiency(theirs) <= best_share) continue;
    best = name;
    best_share = median_efficiency(theirs);
  }
  if (best.empty()) return text;
  return text +
         item(share >= best_share, what + "; that of " + best + " is " + percent(best_share));
}

}  // namespace

std::string verdicts_of(const std::vector<ScaleTable>& tables, const std::string& ours) {
  std::string text;
  for (const ScaleTable& table : tables) {
    for (const ScaleTable::Job& job : table.jobs) {
      const auto found = job.rows.find(ours);
      if (found == job.rows.end() || !is_judged(job, found->second.front())) continue;
      text += verdicts_on(table.title, job, ours);
    }
  }
  return text;
}

}  // namespace rota::bench
