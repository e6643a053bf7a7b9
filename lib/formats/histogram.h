// Counts values in buckets of equal width, as TensorBoard shows them.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace rota::formats {

struct Histogram {
  double least = 0;
  double greatest = 0;
  double count = 0;
  double sum = 0;
  double sum_of_squares = 0;
  // The upper limit of each bucket, and the number of its values. A value on a limit is in the
  // bucket above it, except that the last bucket has the greatest value.
  std::vector<double> limits;
  std::vector<double> counts;
  std::size_t not_finite = 0;  // Values that are in no bucket: NaN and infinities.
};

// Counts all finite values in 30 buckets, or in one bucket if the values are equal, or if there are
// none.
template <class T>
Histogram histogram_of(std::span<const T> values);

extern template Histogram histogram_of(std::span<const float>);
extern template Histogram histogram_of(std::span<const double>);

}  // namespace rota::formats
