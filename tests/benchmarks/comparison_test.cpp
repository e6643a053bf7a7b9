// A comparison pairs the right rows, and refuses rows that it cannot pair.
#include "all_reduce/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

#include "statistics.h"

namespace rota::bench {
namespace {

using testing::HasSubstr;

Row row(const std::string& name, std::size_t bytes, double seconds) {
  return {.name = name,
          .ranks = 2,
          .bytes = bytes,
          .calls_per_sample = 1,
          .min_seconds = seconds,
          .median_seconds = seconds,
          .peak_memory_bytes = 4096};
}

TEST(Median, IsTheMiddleOfTheSortedSamples) {
  EXPECT_EQ(median({5}), 5);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 1, 2, 9}), 3);
}

TEST(Comparison, TakesTheRatioRoundByRound) {
  // The machine is four times as slow in the second round. By the medians alone the ratio would
  // depend on which rounds they fall on.
  const std::vector<Row> rows = {
      row("ours", 64, 1e-6), row("theirs", 64, 2e-6), row("other", 64, 7),  //
      row("ours", 64, 4e-6), row("theirs", 64, 8e-6), row("other", 64, 7),  //
      row("ours", 64, 1e-6), row("theirs", 64, 3e-6), row("other", 64, 7)};
  EXPECT_THAT(compare(rows, "ours", "theirs"), HasSubstr("2.00 (2.00 to 3.00)"));
  EXPECT_THAT(compare(rows, "theirs", "ours"), HasSubstr("0.50 (0.33 to 0.50)"));
}

TEST(Comparison, HasALineForEachSize) {
  const std::vector<Row> rows = {row("ours", 64, 1e-6), row("ours", 4, 5e-7),
                                 row("theirs", 64, 1e-6), row("theirs", 4, 1e-6)};
  const std::string table = compare(rows, "ours", "theirs");
  EXPECT_THAT(table, HasSubstr("2.00 (2.00 to 2.00)"));
  EXPECT_THAT(table, HasSubstr("1.00 (1.00 to 1.00)"));
  EXPECT_LT(table.find("2.00"), table.find("1.00 ("));  // The smallest size is first.
}

TEST(Comparison, RefusesRoundsThatHaveNoPartner) {
  const std::vector<Row> rows = {row("ours", 64, 1e-6), row("ours", 64, 1e-6),
                                 row("theirs", 64, 1e-6)};
  EXPECT_THROW(compare(rows, "ours", "theirs"), std::runtime_error);
  EXPECT_THROW(compare(rows, "ours", "nobody"), std::runtime_error);
}

TEST(Comparison, ReadsTheRowsThatProgramsPrint) {
  std::istringstream lines(to_json(row("rota shm", 64, 1e-6)) + "\n");
  const auto rows = read_rows(lines);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].name, "rota shm");
  EXPECT_EQ(rows[0].ranks, 2U);
  EXPECT_EQ(rows[0].bytes, 64U);
  EXPECT_EQ(rows[0].median_seconds, 1e-6);
  EXPECT_EQ(rows[0].peak_memory_bytes, 4096U);
}

TEST(Comparison, NamesALineThatIsNoRow) {
  const std::string whole = to_json(row("a", 64, 1e-6));
  for (const std::string& text : {std::string("ready"), whole.substr(0, whole.size() / 2)}) {
    std::istringstream lines(whole + "\n" + text + "\n");
    try {
      read_rows(lines);
      FAIL() << "took " << text;
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr(text));
    }
  }
}

}  // namespace
}  // namespace rota::bench
