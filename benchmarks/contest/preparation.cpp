// Checks and prepares each size of each contest.
#include "contest/preparation.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "collectives/sizes.h"
#include "statistics.h"

namespace rota::bench {
namespace {

constexpr double kShortestIsolated = 1e-6;  // Seconds.
constexpr long kMostOfLimit = 102;          // Percent, rounded. Equal runs may differ by 2 %.

bool has_ours(const Contest& contest, const Roles& roles) {
  return std::ranges::any_of(contest.sizes,
                             [&](const auto& size) { return size.second.contains(roles.ours); });
}

bool takes_part(const Contest& contest, const std::string& name) {
  return std::ranges::any_of(contest.sizes,
                             [&](const auto& size) { return size.second.contains(name); });
}

void borrow(Contest& in_place, const Contest& out_of_place, const Roles& roles) {
  const Contest before = in_place;
  for (auto& [bytes, contestants] : in_place.sizes) {
    const auto size = out_of_place.sizes.find(bytes);
    if (size == out_of_place.sizes.end()) continue;
    for (const auto& [name, seconds] : size->second) {
      if (!is_peer(roles, name) || takes_part(before, name)) continue;
      contestants[name + " (out of place)"] = seconds;
    }
  }
}

// Returns whether any contestant except the limit takes too little time. The limit is not a library
// call, so it may take less than a microsecond although every library call takes more.
bool is_short(const Contestants& contestants, const Roles& roles) {
  return std::ranges::any_of(contestants, [&](const auto& contestant) {
    return contestant.first != roles.limit && median(contestant.second) < kShortestIsolated;
  });
}

}  // namespace

void borrow_out_of_place(std::vector<Contest>& contests, const Roles& roles) {
  for (Contest& contest : contests) {
    if (contest.placement != Placement::kInPlace || !has_ours(contest, roles)) continue;
    const auto other = std::ranges::find(contests, contest.other_placement, &Contest::title);
    if (other != contests.end()) borrow(contest, *other, roles);
  }
}

void leave_out_short_calls(std::vector<Contest>& contests, const Roles& roles) {
  for (Contest& contest : contests) {
    if (contest.calls != Calls::kIsolated) continue;
    for (const auto& [bytes, contestants] : contest.sizes) {
      if (is_short(contestants, roles)) contest.left_out.push_back(bytes);
    }
    for (const std::size_t bytes : contest.left_out) contest.sizes.erase(bytes);
  }
}

void check_limit(const std::vector<Contest>& contests, const Roles& roles) {
  for (const Contest& contest : contests) {
    for (const auto& [bytes, contestants] : contest.sizes) {
      const auto ours = contestants.find(roles.ours);
      const auto limit = contestants.find(roles.limit);
      if (ours == contestants.end() || limit == contestants.end()) continue;
      const long percent = std::lround(share_of(limit->second, ours->second) * 100);
      if (percent <= kMostOfLimit) continue;
      throw std::runtime_error(
          "no page: " + contest.title + ", " + to_words(bytes) + ": " + roles.ours + " is at " +
          std::to_string(percent) + " % of the " + roles.limit +
          ", so it is not a limit; measure again while nothing else runs, or give limit_bench a "
          "loop as fast as ours");
    }
  }
}

}  // namespace rota::bench
