// Reports a contest of several programs: Markdown tables, and a picture.
#pragma once
#include <string>
#include <vector>

#include "contest/roles.h"
#include "contest/rounds.h"

namespace rota::bench {

// Returns a table for each contest, with a line for each size. A line has the median time of each
// contestant in microseconds. For each of rota's contestants, the line also has the contestant's
// time divided by the best peer's time: the median (minimum to maximum) of the ratios of the
// rounds. The line also has rota's share of the limit. The best peer has the smallest median. A
// sentence below the table says at which sizes rota is faster and slower. With a baseline, a line
// instead has every other contestant's time divided by the baseline's time. Throws the same errors
// as ratio_of().
std::string markdown_of(const std::vector<Contest>& contests, const Roles& roles);

// Returns a picture with a chart for each contest of isolated calls.
std::string drawing_of(const std::vector<Contest>& contests, const Roles& roles,
                       const std::string& title);

}  // namespace rota::bench
