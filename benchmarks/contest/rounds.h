// Groups the rows of several programs that ran in turn, so that they can be compared.
#pragma once
#include <cstddef>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "collectives/row.h"

namespace rota::bench {

// Reads the rows that programs printed with --json. Throws std::runtime_error with the line if a
// line is not a row.
std::vector<Row> read_rows(std::istream& lines);

// Median times in seconds, by name and round. Round k is the k-th row of a name.
using Contestants = std::map<std::string, std::vector<double>>;

// All results of one way to measure, at several sizes.
struct Contest {
  std::string title;            // "all-reduce of float32, sum, 2 ranks, warm, isolated, …"
  std::string other_placement;  // Title of the same contest in the other placement.
  Placement placement = Placement::kInPlace;
  Calls calls = Calls::kIsolated;
  std::map<std::size_t, Contestants> sizes;  // Key: bytes.
  std::vector<std::size_t> left_out;         // Bytes whose times are too short to be shown.
};

// Returns the contests in the order in which they first appear.
std::vector<Contest> contests_of(const std::vector<Row>& rows);

// The ratios of two programs' times in all rounds. In half of the rounds, the ratio is between the
// two quartiles.
struct Ratio {
  double median = 0;
  double least = 0;
  double most = 0;
  double lower_quartile = 0;
  double upper_quartile = 0;
};

// Returns dividend / divisor, round by round: a machine that is slow for a while then slows both.
// Throws std::runtime_error if the two programs ran different numbers of rounds, or ran none.
Ratio ratio_of(const std::vector<double>& dividend, const std::vector<double>& divisor);

// Returns the median over the rounds of the limit's time / rota's time. A round may have several
// times of the limit. Only the smallest of them counts: the limit is the best that the machine can
// do. Throws std::runtime_error if two rounds have different numbers of the limit's times, or if
// there are no such times.
double share_of(const std::vector<double>& limit, const std::vector<double>& ours);

}  // namespace rota::bench
