// What a contest has shown, for people and for programs.
#pragma once
#include <string>
#include <vector>

#include "overlap/contest.h"

namespace rota::bench {

// Of one quantity, over the rounds.
struct Spread {
  double median = 0;
  double least = 0;
  double most = 0;
};

// Requires at least one sample.
Spread spread_of(const std::vector<double>& samples);

// How many times as fast a step is with overlap; from the ratios of each round.
Spread gain_of(const ContestTimes& times);

// The share of the communication's time that overlap takes off a step, round by round: 1 where all
// of it is hidden, and more where the update of the parameters is hidden as well. Noise where
// communication takes less time than steps differ by.
Spread hidden_share_of(const ContestTimes& times);

// What each rank sends and receives in a second while it does nothing else.
double link_bytes_per_second(const ContestResult& result);

// Both end in a newline. A table; and a JSON object a line: one for each of the four times, and one
// named "gain".
std::string to_text(const ContestResult& result);
std::string to_json(const ContestResult& result);

}  // namespace rota::bench
