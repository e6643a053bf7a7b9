// Reads what the jobs of a validation have measured.
#pragma once
#include <iosfwd>
#include <map>
#include <vector>

#include "validate/points.h"

namespace rota::bench {

// The seconds of each round, by point.
using MeasuredPoints = std::map<ValidationPoint, std::vector<double>>;

// Reads lines that each have a world and a row of `rota-bench all-reduce` or `scale`:
//
//   {"hosts": 4, "ranks_per_host": 2, "megabits": 1000, "row": {…}}
//
// Throws std::runtime_error with the line if a line has another form, or if its row was measured on
// another number of ranks.
MeasuredPoints read_measured(std::istream& lines);

}  // namespace rota::bench
