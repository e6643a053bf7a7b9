// Reports the result of a contest, for people and for programs.
#pragma once
#include <string>
#include <vector>

#include "overlap/contest.h"

namespace rota::bench {

// The spread of a quantity over the rounds.
struct Spread {
  double median = 0;
  double least = 0;
  double most = 0;
};

// Requires at least one sample.
Spread spread_of(const std::vector<double>& samples);

// Returns how many times as fast a step is with overlap, as the spread of the rounds' ratios.
Spread gain_of(const ContestTimes& times);

// Returns the share of the communication's time that overlap removes from a step, as the spread of
// the rounds' shares. The share is 1 if all communication is hidden, and more if the update of the
// parameters is hidden as well. If communication takes less time than the variation between steps,
// the share is noise.
Spread hidden_share_of(const ContestTimes& times);

// Returns the bytes a second that each rank sends and receives while it only communicates.
double link_bytes_per_second(const ContestResult& result);

// Both strings end in a newline. The first is a table. The second has one JSON object a line: one
// for each of the four times, and one named "gain".
std::string to_text(const ContestResult& result);
std::string to_json(const ContestResult& result);

}  // namespace rota::bench
