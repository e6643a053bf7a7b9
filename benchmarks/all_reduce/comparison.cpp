// Pairs the rows of two programs, round by round.
#include "all_reduce/comparison.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <istream>
#include <map>
#include <stdexcept>

#include "statistics.h"

namespace rota::bench {
namespace {

constexpr std::size_t kMaxLine = 160;

// The seconds of each size, in the order of the rounds.
using Rounds = std::map<std::size_t, std::vector<double>>;

Rounds rounds_of(const std::vector<Row>& rows, const std::string& name) {
  Rounds rounds;
  for (const auto& row : rows) {
    if (row.name == name) rounds[row.bytes].push_back(row.median_seconds);
  }
  if (rounds.empty()) throw std::runtime_error("compare: nothing was measured of " + name);
  return rounds;
}

std::string line_of(std::size_t bytes, const std::vector<double>& ours,
                    const std::vector<double>& theirs) {
  std::vector<double> ratios(ours.size());
  std::ranges::transform(theirs, ours, ratios.begin(), std::divides<>());
  std::array<char, kMaxLine> line{};
  std::snprintf(line.data(), line.size(), "%14zu %18.2f %18.2f %9.2f (%.2f to %.2f)\n", bytes,
                median(ours) * 1e6, median(theirs) * 1e6, median(ratios), std::ranges::min(ratios),
                std::ranges::max(ratios));
  return line.data();
}

}  // namespace

std::vector<Row> read_rows(std::istream& lines) {
  std::vector<Row> rows;
  for (std::string line; std::getline(lines, line);) {
    const auto row = parse_row(line);
    if (!row) throw std::runtime_error("compare: this is not a row of --json: " + line);
    rows.push_back(*row);
  }
  return rows;
}

std::string compare(const std::vector<Row>& rows, const std::string& ours,
                    const std::string& theirs) {
  const Rounds our_rounds = rounds_of(rows, ours);
  const Rounds their_rounds = rounds_of(rows, theirs);
  std::array<char, kMaxLine> head{};
  std::snprintf(head.data(), head.size(), "%14s %18s %18s %9s\n", "bytes", (ours + " us").c_str(),
                (theirs + " us").c_str(), "times as fast");
  std::string table = head.data();
  for (const auto& [bytes, seconds] : our_rounds) {
    const auto found = their_rounds.find(bytes);
    if (found == their_rounds.end() || found->second.size() != seconds.size()) {
      throw std::runtime_error("compare: " + ours + " and " + theirs +
                               " did not run the same rounds of " + std::to_string(bytes) +
                               " bytes");
    }
    table += line_of(bytes, seconds, found->second);
  }
  return table;
}

}  // namespace rota::bench
