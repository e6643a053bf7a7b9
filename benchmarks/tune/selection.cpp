// Compares predicted and measured times.
#include "tune/selection.h"

#include <algorithm>
#include <cmath>

namespace rota::bench {
namespace {

using collectives::Algorithm;

// A prediction may be wrong by this factor, because the model is simple.
constexpr double kNearly = 1.5;

const Candidate& of(const Size& size, Algorithm algorithm) {
  return *std::ranges::find(size.candidates, algorithm, &Candidate::algorithm);
}

double median_of(const Candidate& candidate) {
  return candidate.measured ? candidate.measured->median_seconds : HUGE_VAL;
}

const Candidate& fastest(const Size& size) {
  return *std::ranges::min_element(size.candidates, [](const Candidate& a, const Candidate& b) {
    return median_of(a) < median_of(b);
  });
}

std::size_t between(std::size_t a, std::size_t b) {
  return static_cast<std::size_t>(
      std::lround(std::sqrt(static_cast<double>(a) * static_cast<double>(b))));
}

}  // namespace

std::vector<Algorithm> plans_of_all_reduce(bool shares_memory, bool same_bits) {
  std::vector<Algorithm> plans{Algorithm::kRing, Algorithm::kDirect, Algorithm::kHub,
                               Algorithm::kByHost};
  if (shares_memory) plans.push_back(Algorithm::kShared);
  if (same_bits) return plans;
  for (const Algorithm plan :
       {Algorithm::kHalvingDoubling, Algorithm::kTree, Algorithm::kTwoLevel, Algorithm::kStar}) {
    plans.push_back(plan);
  }
  return plans;
}

std::vector<Algorithm> worth_a_run(const Size& size, std::size_t count) {
  std::vector<Candidate> order = size.candidates;
  std::ranges::stable_sort(order, {}, &Candidate::predicted_seconds);
  const std::size_t last = std::min(std::max<std::size_t>(1, count), order.size()) - 1;
  const double limit = order[last].predicted_seconds * kNearly;
  std::vector<Algorithm> worthy;
  for (const Candidate& candidate : order) {
    const bool is_fast = candidate.predicted_seconds <= limit;
    if (is_fast || candidate.algorithm == size.by_default) worthy.push_back(candidate.algorithm);
  }
  return worthy;
}

Algorithm winner_of(const Size& size, double margin) {
  return default_by_fastest(size) <= 1 + margin ? size.by_default : fastest(size).algorithm;
}

double default_by_fastest(const Size& size) {
  return median_of(of(size, size.by_default)) / median_of(fastest(size));
}

std::vector<TunedTable::Row> rows_of(const std::vector<Size>& sizes, double margin) {
  std::vector<TunedTable::Row> rows;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Algorithm winner = winner_of(sizes[i], margin);
    if (!rows.empty() && rows.back().algorithm == winner) continue;
    rows.push_back({i == 0 ? 0 : between(sizes[i - 1].bytes, sizes[i].bytes), winner});
  }
  return rows;
}

}  // namespace rota::bench
