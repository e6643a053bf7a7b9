// Counts values in two passes: the first finds the least and the greatest value.
#include "formats/histogram.h"

#include <algorithm>
#include <cmath>

namespace rota::formats {
namespace {

constexpr std::size_t kBuckets = 30;  // As many as TensorBoard's own summaries have.

}  // namespace

template <class T>
Histogram histogram_of(std::span<const T> values) {
  Histogram result;
  for (const T value : values) {
    if (!std::isfinite(value)) {
      ++result.not_finite;
      continue;
    }
    const auto x = static_cast<double>(value);
    result.least = result.count == 0 ? x : std::min(result.least, x);
    result.greatest = result.count == 0 ? x : std::max(result.greatest, x);
    result.sum += x;
    result.sum_of_squares += x * x;
    ++result.count;
  }
  // Divided first, because the difference of two large doubles may be infinite.
  const double width = result.greatest / kBuckets - result.least / kBuckets;
  if (!(width > 0)) {
    result.limits = {result.greatest};
    result.counts = {result.count};
    return result;
  }
  for (std::size_t i = 1; i < kBuckets; ++i) {
    result.limits.push_back(result.least + static_cast<double>(i) * width);
  }
  result.limits.push_back(result.greatest);
  result.counts.resize(kBuckets);
  for (const T value : values) {
    if (!std::isfinite(value)) continue;
    const double bucket = static_cast<double>(value) / width - result.least / width;
    ++result.counts[std::min(static_cast<std::size_t>(std::max(bucket, 0.0)), kBuckets - 1)];
  }
  return result;
}

template Histogram histogram_of(std::span<const float>);
template Histogram histogram_of(std::span<const double>);

}  // namespace rota::formats
