// Groups rows by how they were measured, then by size, then by who was measured.
#include "contest/rounds.h"

#include <algorithm>
#include <functional>
#include <istream>
#include <stdexcept>

#include "statistics.h"

namespace rota::bench {
namespace {

std::string ranks_of(const Row& row) { return ", " + std::to_string(row.ranks) + " ranks"; }

std::string title_of(const Row& row, bool has_ranks) {
  std::string title(to_string(row.work.collective));
  if (row.work.collective != Collective::kBarrier) {
    title += " of " + std::string(to_string(row.work.type));
  }
  if (reduces(row.work.collective)) title += ", " + op_name(row.work);
  if (has_ranks) title += ranks_of(row);
  for (const std::string_view word :
       {to_string(row.state), to_string(row.calls), to_string(row.work.placement)}) {
    title += ", " + std::string(word);
  }
  return title + ", memory " + std::string(to_string(row.memory));
}

}  // namespace

std::vector<Row> read_rows(std::istream& lines) {
  std::vector<Row> rows;
  for (std::string line; std::getline(lines, line);) {
    const auto row = parse_row(line);
    if (!row) throw std::runtime_error("this is not a row of --json: " + line);
    rows.push_back(*row);
  }
  return rows;
}

std::vector<Contest> contests_of(const std::vector<Row>& rows, bool of_all_worlds) {
  std::vector<Contest> contests;
  for (const Row& row : rows) {
    const std::string title = title_of(row, !of_all_worlds);
    const std::string name = row.name + (of_all_worlds ? ranks_of(row) : "");
    auto found = std::ranges::find(contests, title, &Contest::title);
    if (found == contests.end()) {
      contests.push_back({title, row.state, row.calls, row.memory, {}});
      found = contests.end() - 1;
    }
    found->sizes[row.work.bytes()][name].push_back(row.median_seconds);
  }
  return contests;
}

Ratio ratio_of(const std::vector<double>& dividend, const std::vector<double>& divisor) {
  if (dividend.empty() || dividend.size() != divisor.size()) {
    throw std::runtime_error(
        "the two did not run the same rounds: " + std::to_string(dividend.size()) + " and " +
        std::to_string(divisor.size()));
  }
  std::vector<double> ratios(dividend.size());
  std::ranges::transform(dividend, divisor, ratios.begin(), std::divides<>());
  return {median(ratios), std::ranges::min(ratios), std::ranges::max(ratios)};
}

}  // namespace rota::bench
