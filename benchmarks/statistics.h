// Median and percentiles of samples.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace rota::bench {

// All functions require at least one sample.

// For an even number of samples, returns the mean of the two in the middle.
inline double median(std::vector<double> samples) {
  std::ranges::sort(samples);
  const std::size_t middle = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

// Returns the smallest sample x such that at least `percent` % of the samples are at most x.
// Requires 0 < percent <= 100.
inline double percentile(std::vector<double> samples, std::size_t percent) {
  std::ranges::sort(samples);
  return samples[(samples.size() * percent + 99) / 100 - 1];
}

}  // namespace rota::bench
