// Rows of several programs that were run in turn, put side by side.
#pragma once
#include <cstddef>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "collectives/row.h"

namespace rota::bench {

// The rows that programs printed with --json. Throws std::runtime_error, naming the line, where one
// is no row.
std::vector<Row> read_rows(std::istream& lines);

// By name: the median times in seconds, round by round. Round k is the k-th row of a name.
using Contestants = std::map<std::string, std::vector<double>>;

// What was measured in one way at several sizes.
struct Contest {
  std::string title;            // "all-reduce of float32, sum, 2 ranks, warm, isolated, …"
  std::string other_placement;  // The title of the same in place, where this is out of place.
  Placement placement = Placement::kInPlace;
  Calls calls = Calls::kIsolated;
  std::map<std::size_t, Contestants> sizes;  // By bytes.
  std::vector<std::size_t> left_out;         // Bytes whose times are too short to be shown.
};

// In the order in which they first appear.
std::vector<Contest> contests_of(const std::vector<Row>& rows);

// Of one quantity, over the rounds. Half of them lie between the quartiles.
struct Ratio {
  double median = 0;
  double least = 0;
  double most = 0;
  double lower_quartile = 0;
  double upper_quartile = 0;
};

// dividend / divisor, round by round, so that a machine that is slow for a while is slow for both.
// Throws std::runtime_error where the two did not run the same rounds, or none.
Ratio ratio_of(const std::vector<double>& dividend, const std::vector<double>& divisor);

// The limit's time / ours, as the median of the rounds' shares. A round may have several times of
// the limit, of which the least counts: a limit is what the machine can do at its best. Throws
// std::runtime_error where the limit's are not as many in each round, or none.
double share_of(const std::vector<double>& limit, const std::vector<double>& ours);

}  // namespace rota::bench
