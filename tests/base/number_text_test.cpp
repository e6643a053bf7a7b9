// Tests how numbers become text: without a loss, without the locale, and rounded for people.
#include "base/number_text.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <string>

#include <rota/rank_table.h>

#include "base/time.h"
#include "testing/comma_locale.h"

namespace rota::base {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::CommaLocale;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(NumberText, IsAsShortAsItCanBe) {
  EXPECT_EQ(shortest_text(0), "0");
  EXPECT_EQ(shortest_text(1), "1");
  EXPECT_EQ(shortest_text(-0.1), "-0.1");
  EXPECT_EQ(shortest_text(1e-7), "1e-07");
  EXPECT_EQ(shortest_text(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(shortest_text(-kInfinity), "-inf");
}

TEST(NumberText, IsAnotherForEachNumber) {
  for (const double number : {0.1, 1.0, 1e-7, 123456.7, 1e300}) {
    EXPECT_NE(shortest_text(number), shortest_text(std::nextafter(number, kInfinity))) << number;
  }
}

TEST(NumberText, IsRoundedForPeople) {
  EXPECT_EQ(rounded_text(1234.5, 3), "1.23e+03");
  EXPECT_EQ(rounded_text(0.0012345, 3), "0.00123");
  EXPECT_EQ(rounded_text(1.5, 3), "1.5");
  EXPECT_EQ(fixed_text(1.5, 2), "1.50");
  EXPECT_EQ(fixed_text(1234.5678, 0), "1235");
  EXPECT_EQ(fixed_text(std::numeric_limits<double>::max(), 2).size(), 312U);
}

TEST(NumberText, OfADurationHasAllItsSeconds) {
  EXPECT_EQ(to_text(milliseconds(12)), "12 ms");
  EXPECT_EQ(to_text(milliseconds(500)), "0.5 s");
  EXPECT_EQ(to_text(milliseconds(12345)), "12.3 s");
  EXPECT_EQ(to_text(seconds(1234)), "1234 s");
  EXPECT_EQ(to_text(seconds(86400)), "86400 s");
}

TEST(NumberText, IsTheSameInEveryLocale) {
  const CommaLocale locale;
  ASSERT_TRUE(CommaLocale::is_in_use());
  EXPECT_EQ(shortest_text(1234.5), "1234.5");
  EXPECT_EQ(rounded_text(0.25, 3), "0.25");
  EXPECT_EQ(fixed_text(1234.5, 2), "1234.50");
  EXPECT_EQ(to_text(milliseconds(1500)), "1.5 s");
  RankTable table{.epoch = 1234, .source = "s", .transport = "tcp", .rows = {}};
  table.rows.resize(2345);
  EXPECT_EQ(rota::to_text(table).rfind("epoch 1234 · world 2345 on 1 host", 0), 0U);
}

}  // namespace
}  // namespace rota::base
