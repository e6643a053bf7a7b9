// What a contest of several programs has shown: Markdown for people, and a picture.
#pragma once
#include <string>
#include <vector>

#include "contest/rounds.h"

namespace rota::bench {

struct Roles {
  std::string ours;        // This one is divided
  std::string limit;       // by the best of all others but this one, which it is a share of.
  std::string baseline{};  // Instead of all this: by this one, each of the others is divided.
};

// A table a contest, with a line a size: everybody's median time in microseconds; our time over the
// best peer's, and the limit's time over ours, both as the median (least to most) of the rounds'
// ratios. The best peer is the one with the least median. With a baseline: each other one's time
// over its. Throws what ratio_of throws.
std::string markdown_of(const std::vector<Contest>& contests, const Roles& roles);

// A chart for each contest of isolated calls.
std::string drawing_of(const std::vector<Contest>& contests, const Roles& roles,
                       const std::string& title);

}  // namespace rota::bench
