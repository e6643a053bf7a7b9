// Pairs the rows of two programs, round by round.
#include "contest/comparison.h"

#include <array>
#include <cstdio>
#include <stdexcept>

#include "contest/rounds.h"
#include "statistics.h"

namespace rota::bench {
namespace {

constexpr std::size_t kMaxLine = 160;

std::string line_of(std::size_t bytes, const std::vector<double>& ours,
                    const std::vector<double>& theirs) {
  const Ratio ratio = ratio_of(theirs, ours);
  std::array<char, kMaxLine> line{};
  std::snprintf(line.data(), line.size(), "%14zu %18.2f %18.2f %9.2f (%.2f to %.2f)\n", bytes,
                median(ours) * 1e6, median(theirs) * 1e6, ratio.median, ratio.least, ratio.most);
  return line.data();
}

std::string head_of(const std::string& title, const std::string& ours, const std::string& theirs) {
  std::array<char, kMaxLine> head{};
  std::snprintf(head.data(), head.size(), "%14s %18s %18s %9s\n", "bytes", (ours + " us").c_str(),
                (theirs + " us").c_str(), "times as fast");
  return "# " + title + "\n" + head.data();
}

}  // namespace

std::string compare(const std::vector<Row>& rows, const std::string& ours,
                    const std::string& theirs) {
  std::string text;
  for (const Contest& contest : contests_of(rows)) {
    std::string lines;
    for (const auto& [bytes, contestants] : contest.sizes) {
      const auto our = contestants.find(ours);
      const auto their = contestants.find(theirs);
      if (our == contestants.end() || their == contestants.end()) continue;
      lines += line_of(bytes, our->second, their->second);
    }
    if (!lines.empty()) text += head_of(contest.title, ours, theirs) + lines;
  }
  if (text.empty()) {
    throw std::runtime_error("there is no call that both " + ours + " and " + theirs +
                             " measured, so there is nothing to compare");
  }
  return text;
}

}  // namespace rota::bench
