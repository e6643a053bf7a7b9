// Joins neighbouring sizes with the same outcome, and writes a sentence about them.
#include "contest/verdict.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <vector>

#include "collectives/sizes.h"

namespace rota::bench {
namespace {

// A median of the ratios that is this near to 1 counts as "about the same". Any other median counts
// as "about the same", too, if in a quarter of the rounds the ratio is on the other side of 1 than
// the median.
constexpr double kLeastDifference = 0.03;

enum class Outcome { kLess, kAsMuch, kMore };
constexpr std::array kOutcomes = {Outcome::kLess, Outcome::kAsMuch, Outcome::kMore};
constexpr std::array kWords = {"less time", "about the same time", "more time"};

Outcome outcome_of(const Ratio& ratio) {
  if (ratio.median < 1 - kLeastDifference && ratio.upper_quartile < 1) return Outcome::kLess;
  const bool is_more = ratio.median > 1 + kLeastDifference && ratio.lower_quartile > 1;
  return is_more ? Outcome::kMore : Outcome::kAsMuch;
}

// Neighbouring sizes with the same outcome.
struct Run {
  Outcome outcome = Outcome::kLess;
  std::size_t first = 0;  // Bytes.
  std::size_t last = 0;
  double least = 0;
  double most = 0;
};

std::vector<Run> runs_of(const Contest& contest, const Roles& roles, const std::string& own) {
  std::vector<Run> runs;
  bool is_next = false;
  for (const auto& [bytes, contestants] : contest.sizes) {
    const auto ours = contestants.find(own);
    const BestPeer peer = best_peer(contestants, roles);
    if (ours == contestants.end() || peer.seconds.empty()) {
      is_next = false;
      continue;
    }
    const Ratio rounds = ratio_of(ours->second, peer.seconds);
    const Outcome outcome = outcome_of(rounds);
    const double ratio = rounds.median;
    if (is_next && runs.back().outcome == outcome) {
      Run& run = runs.back();
      run = {run.outcome, run.first, bytes, std::min(run.least, ratio), std::max(run.most, ratio)};
    } else {
      runs.push_back({outcome, bytes, bytes, ratio, ratio});
    }
    is_next = true;
  }
  return runs;
}

std::string words_of(const Run& run) {
  const bool is_one = run.first == run.last;
  std::array<char, 64> ratios{};
  std::snprintf(ratios.data(), ratios.size(), is_one ? " (%.2f)" : " (%.2f to %.2f)", run.least,
                run.most);
  return to_words(run.first) + (is_one ? "" : " to " + to_words(run.last)) + ratios.data();
}

std::string places_of(const std::vector<Run>& runs, Outcome outcome) {
  std::string places;
  for (const Run& run : runs) {
    if (run.outcome == outcome) places += (places.empty() ? "" : ", ") + words_of(run);
  }
  return places;
}

std::string sentence_of(const Contest& contest, const Roles& roles, const std::string& own) {
  const std::vector<Run> runs = runs_of(contest, roles, own);
  if (runs.empty()) return "";
  std::string sentence;
  for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
    const std::string places = places_of(runs, kOutcomes[i]);
    if (places.empty()) continue;
    sentence += (sentence.empty() ? " takes " : "; ") + std::string(kWords[i]) + " at " + places;
  }
  return "Compared with the best peer, " + own + sentence + ".\n";
}

}  // namespace

std::string verdict_of(const Contest& contest, const Roles& roles) {
  std::set<std::string> own;
  for (const auto& [bytes, contestants] : contest.sizes) {
    for (const auto& [name, seconds] : contestants) {
      if (is_own(roles, name)) own.insert(name);
    }
  }
  std::string text;
  for (const std::string& name : own) text += sentence_of(contest, roles, name);
  return text.empty() ? text : text + "\n";
}

}  // namespace rota::bench
