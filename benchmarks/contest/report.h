// What a contest of several programs has shown: Markdown for people, and a picture.
#pragma once
#include <string>
#include <vector>

#include "contest/roles.h"
#include "contest/rounds.h"

namespace rota::bench {

// A table a contest, with a line a size: everybody's median time in microseconds; the time of each
// of ours over the best peer's, as the median (least to most) of the rounds' ratios; our share of
// the limit; below it where ours wins and where it loses. The best peer is the one with the least
// median. With a baseline: each other one's time over its. Throws what ratio_of throws.
std::string markdown_of(const std::vector<Contest>& contests, const Roles& roles);

// A chart for each contest of isolated calls.
std::string drawing_of(const std::vector<Contest>& contests, const Roles& roles,
                       const std::string& title);

}  // namespace rota::bench
