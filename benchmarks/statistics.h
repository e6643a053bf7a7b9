// What is said of a run of samples.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace rota::bench {

// Requires at least one sample. Of an even number, the mean of the two in the middle.
inline double median(std::vector<double> samples) {
  std::ranges::sort(samples);
  const std::size_t middle = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

}  // namespace rota::bench
