// Groups rows by the manner in which they were measured, then by size, then by name.
#include "contest/rounds.h"

#include <algorithm>
#include <functional>
#include <istream>
#include <span>
#include <stdexcept>

#include "statistics.h"

namespace rota::bench {
namespace {

std::string title_of(const Row& row, Placement placement) {
  std::string title(to_string(row.work.collective));
  if (row.work.collective != Collective::kBarrier) {
    title += " of " + std::string(to_string(row.work.type));
  }
  if (reduces(row.work.collective)) title += ", " + op_name(row.work);
  title += ", " + std::to_string(row.ranks) + " ranks";
  title += ", " + std::string(to_string(row.state)) + ", " + std::string(to_string(row.calls));
  if (row.work.collective == Collective::kBarrier) return title;  // A barrier has no values.
  return title + ", " + std::string(to_string(placement)) + ", memory " +
         std::string(to_string(row.memory));
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

std::vector<Contest> contests_of(const std::vector<Row>& rows) {
  std::vector<Contest> contests;
  for (const Row& row : rows) {
    const Placement placement = row.work.placement;
    const std::string title = title_of(row, placement);
    auto found = std::ranges::find(contests, title, &Contest::title);
    if (found == contests.end()) {
      const bool in_place = placement == Placement::kInPlace;
      contests.push_back({.title = title,
                          .other_placement = title_of(
                              row, in_place ? Placement::kOutOfPlace : Placement::kInPlace),
                          .placement = placement,
                          .calls = row.calls,
                          .sizes = {},
                          .left_out = {}});
      found = contests.end() - 1;
    }
    found->sizes[row.work.bytes()][row.name].push_back(row.median_seconds);
  }
  return contests;
}

Ratio ratio_of(const std::vector<double>& dividend, const std::vector<double>& divisor) {
  if (dividend.empty() || dividend.size() != divisor.size()) {
    throw std::runtime_error("cannot compare two programs round by round: one has times of " +
                             std::to_string(dividend.size()) + " rounds, the other of " +
                             std::to_string(divisor.size()));
  }
  std::vector<double> ratios(dividend.size());
  std::ranges::transform(dividend, divisor, ratios.begin(), std::divides<>());
  return {.median = median(ratios),
          .least = std::ranges::min(ratios),
          .most = std::ranges::max(ratios),
          .lower_quartile = percentile(ratios, 25),
          .upper_quartile = percentile(ratios, 75)};
}

double share_of(const std::vector<double>& limit, const std::vector<double>& ours) {
  if (limit.empty() || ours.empty() || limit.size() % ours.size() != 0) {
    throw std::runtime_error("cannot compare rota with the limit round by round: there are " +
                             std::to_string(limit.size()) + " times of the limit for " +
                             std::to_string(ours.size()) +
                             " rounds, but each round needs the same number of them");
  }
  const std::size_t times = limit.size() / ours.size();
  std::vector<double> shares(ours.size());
  for (std::size_t round = 0; round < ours.size(); ++round) {
    shares[round] = std::ranges::min(std::span(limit).subspan(round * times, times)) / ours[round];
  }
  return median(shares);
}

}  // namespace rota::bench
