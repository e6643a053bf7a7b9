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
  std::string title;  // "all-reduce of float32, sum; 2 ranks; warm, isolated, …"
  State state = State::kWarm;
  Calls calls = Calls::kIsolated;
  Memory memory = Memory::kShared;
  std::map<std::size_t, Contestants> sizes;  // By bytes.
};

// In the order in which they first appear. Worlds of several sizes are contests of their own, or by
// `of_all_worlds` one, in which a name says its number of ranks.
std::vector<Contest> contests_of(const std::vector<Row>& rows, bool of_all_worlds = false);

// Of one quantity, over the rounds.
struct Ratio {
  double median = 0;
  double least = 0;
  double most = 0;
};

// dividend / divisor, round by round, so that a machine that is slow for a while is slow for both.
// Throws std::runtime_error where the two did not run the same rounds, or none.
Ratio ratio_of(const std::vector<double>& dividend, const std::vector<double>& divisor);

}  // namespace rota::bench
