// Each finite value is counted in the bucket whose limits enclose it.
#include "formats/histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace rota::formats {
namespace {

template <class T>
Histogram count(const std::vector<T>& values) {
  return histogram_of(std::span(values));
}

TEST(Histogram, CountsEachValueOnce) {
  std::vector<float> values;
  for (int i = 0; i <= 60; ++i) values.push_back(static_cast<float>(i));
  const Histogram histogram = count(values);
  ASSERT_EQ(histogram.limits.size(), 30U);
  ASSERT_EQ(histogram.counts.size(), 30U);
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_DOUBLE_EQ(histogram.limits[i], static_cast<double>(2 * i + 2));
    // Only the last bucket includes its upper limit.
    EXPECT_EQ(histogram.counts[i], i == 29 ? 3 : 2) << i;
  }
  EXPECT_EQ(histogram.least, 0);
  EXPECT_EQ(histogram.greatest, 60);
  EXPECT_EQ(histogram.count, 61);
  EXPECT_EQ(histogram.sum, 1830);
  EXPECT_EQ(histogram.sum_of_squares, 73'810);
}

TEST(Histogram, LeavesOutWhatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Histogram histogram = count<float>({infinity, 1, std::nanf(""), -infinity, 3});
  EXPECT_EQ(histogram.not_finite, 3U);
  EXPECT_EQ(histogram.count, 2);
  EXPECT_EQ(histogram.least, 1);
  EXPECT_EQ(histogram.greatest, 3);
  EXPECT_EQ(std::accumulate(histogram.counts.begin(), histogram.counts.end(), 0.0), 2);
}

TEST(Histogram, HasOneBucketForEqualValues) {
  const Histogram equal = count<double>({2.5, 2.5, 2.5});
  EXPECT_EQ(equal.limits, (std::vector<double>{2.5}));
  EXPECT_EQ(equal.counts, (std::vector<double>{3}));
  const Histogram none = count<double>({});
  EXPECT_EQ(none.limits, (std::vector<double>{0}));
  EXPECT_EQ(none.counts, (std::vector<double>{0}));
  EXPECT_EQ(count<double>({std::nan("")}).counts, (std::vector<double>{0}));
}

TEST(Histogram, TakesTheLargestDoubles) {
  const double largest = std::numeric_limits<double>::max();
  const Histogram histogram = count<double>({-largest, 0, largest});
  EXPECT_EQ(histogram.counts.front(), 1);
  EXPECT_EQ(histogram.counts.back(), 1);
  EXPECT_EQ(std::accumulate(histogram.counts.begin(), histogram.counts.end(), 0.0), 3);
  EXPECT_EQ(histogram.limits.back(), largest);
}

// The width of a bucket of these values is 0, because doubles are not that small.
TEST(Histogram, TakesTheSmallestDoubles) {
  const double smallest = std::numeric_limits<double>::denorm_min();
  const Histogram histogram = count<double>({0, smallest});
  EXPECT_EQ(std::accumulate(histogram.counts.begin(), histogram.counts.end(), 0.0), 2);
}

}  // namespace
}  // namespace rota::formats
