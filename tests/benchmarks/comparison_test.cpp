// A comparison pairs the right rows and refuses rows that it cannot pair. A report shows the
// results, both wins and losses.
#include "contest/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

#include "contest/report.h"
#include "contest/rounds.h"
#include "contest/verdict.h"

namespace rota::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

Row row(const std::string& name, std::size_t bytes, double seconds, State state = State::kWarm) {
  return {.name = name,
          .ranks = 2,
          .work = {.total = bytes / sizeof(float)},
          .plan = "auto",
          .memory = Memory::kShared,
          .state = state,
          .calls = Calls::kIsolated,
          .min_seconds = seconds,
          .median_seconds = seconds,
          .p99_seconds = seconds,
          .errors = {},
          .peak_memory_bytes = 4096};
}

TEST(Comparison, TakesTheRatioRoundByRound) {
  // The machine is four times as slow in the second round. If the ratio were computed from the two
  // medians, it would depend on the rounds from which the medians come.
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
  EXPECT_LT(table.find("2.00"), table.find("1.00 ("));  // The smallest size comes first.
}

TEST(Comparison, NeverMixesWhatWasMeasuredInDifferentWays) {
  const std::vector<Row> rows = {row("ours", 64, 1e-6), row("ours", 64, 1e-6, State::kFresh),
                                 row("theirs", 64, 2e-6), row("theirs", 64, 4e-6, State::kFresh)};
  const std::string tables = compare(rows, "ours", "theirs");
  EXPECT_THAT(tables, HasSubstr("warm"));
  EXPECT_THAT(tables, HasSubstr("2.00 (2.00 to 2.00)"));
  EXPECT_THAT(tables, HasSubstr("fresh"));
  EXPECT_THAT(tables, HasSubstr("4.00 (4.00 to 4.00)"));
}

TEST(Comparison, RefusesRoundsThatHaveNoPartner) {
  const std::vector<Row> rows = {row("ours", 64, 1e-6), row("ours", 64, 1e-6),
                                 row("theirs", 64, 1e-6)};
  EXPECT_THROW(compare(rows, "ours", "theirs"), std::runtime_error);
  EXPECT_THROW(compare(rows, "ours", "nobody"), std::runtime_error);
}

TEST(Rounds, NameALineThatIsNoRow) {
  const std::string whole = to_json(row("a", 64, 1e-6));
  for (const std::string& text : {std::string("ready"), whole.substr(0, whole.size() / 2)}) {
    std::istringstream lines(whole + "\n" + text + "\n");
    try {
      read_rows(lines);
      FAIL() << "this line was accepted: " << text;
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr(text));
    }
  }
}

TEST(Report, DividesByTheBestPeerAndHoldsAgainstTheLimit) {
  const std::vector<Row> rows = {row("rota", 1024, 2e-6), row("slow", 1024, 9e-6),
                                 row("fast", 1024, 4e-6), row("limit", 1024, 1e-6)};
  const std::string page = markdown_of(contests_of(rows), {"rota", "limit"});
  EXPECT_THAT(page, HasSubstr("| size | rota, µs | fast, µs | slow, µs | limit, µs | "
                              "rota / best peer | share of the limit |\n"));
  EXPECT_THAT(page, HasSubstr("| 1 KiB | 2.00 | 4.00 | 9.00 | 1.00 | 0.50 (0.50 to 0.50) | "
                              "50 % |\n"));
}

// rota with another plan is not a peer. So it is compared with the best peer, as rota with the
// default plan is.
TEST(Report, DividesWhateverIsOursByTheBestPeer) {
  const std::vector<Row> rows = {row("rota tcp", 1024, 3e-6), row("rota tcp ring", 1024, 2e-6),
                                 row("peer", 1024, 4e-6)};
  const std::string page = markdown_of(contests_of(rows), {"rota tcp", "limit"});
  EXPECT_THAT(page, HasSubstr("| size | rota tcp, µs | rota tcp ring, µs | peer, µs | "
                              "rota tcp / best peer | rota tcp ring / best peer |\n"));
  EXPECT_THAT(page, HasSubstr("| 1 KiB | 3.00 | 2.00 | 4.00 | 0.75 (0.75 to 0.75) | "
                              "0.50 (0.50 to 0.50) |\n"));
}

TEST(Report, DividesByABaselineWhereThereIsOne) {
  const std::vector<Row> rows = {row("rota", 1024, 2e-6), row("rota int8", 1024, 3e-6)};
  const std::string page = markdown_of(contests_of(rows), {"", "", "rota"});
  EXPECT_THAT(page, HasSubstr("| size | rota, µs | rota int8, µs | rota int8 / rota |\n"));
  EXPECT_THAT(page, HasSubstr("| 1 KiB | 2.00 | 3.00 | 1.50 (1.50 to 1.50) |\n"));
  EXPECT_THAT(page, Not(HasSubstr("best peer")));
}

TEST(Report, SaysBelowTheTableWhereOursWinsAndWhereItLoses) {
  const std::vector<Row> rows = {row("rota", 4, 4e-6),    row("peer", 4, 2e-6),
                                 row("rota", 8, 2e-6),    row("peer", 8, 2e-6),
                                 row("rota", 1024, 2e-6), row("peer", 1024, 4e-6),
                                 row("rota", 4096, 1e-6), row("peer", 4096, 4e-6)};
  EXPECT_EQ(verdict_of(contests_of(rows).front(), {"rota", "limit"}),
            "Compared with the best peer, rota takes less time at 1 KiB to 4 KiB (0.25 to 0.50); "
            "about the same time at 8 B (1.00); more time at 4 B (2.00).\n\n");
}

TEST(Report, SaysNothingThatAQuarterOfTheRoundsContradicts) {
  std::vector<Row> rows;
  for (const double seconds : {1e-6, 1e-6, 1e-6, 5e-6, 6e-6}) {
    rows.push_back(row("rota", 4, seconds));
    rows.push_back(row("peer", 4, 4e-6));
  }
  EXPECT_EQ(verdict_of(contests_of(rows).front(), {"rota", "limit"}),
            "Compared with the best peer, rota takes about the same time at 4 B (0.25).\n\n");
}

TEST(Report, SaysNothingOfNobody) {
  const std::vector<Row> rows = {row("rota", 4, 4e-6), row("limit", 4, 2e-6)};
  EXPECT_EQ(verdict_of(contests_of(rows).front(), {"rota", "limit"}), "");
}

TEST(Report, LeavesEmptyWhatWasNotMeasured) {
  const std::vector<Row> rows = {row("rota", 4, 2e-6), row("peer", 8, 1e-6)};
  const std::string page = markdown_of(contests_of(rows), {"rota", "limit"});
  EXPECT_THAT(page, HasSubstr("| 4 B | 2.00 | – | – |\n"));
  EXPECT_THAT(page, HasSubstr("| 8 B | – | 1.00 | – |\n"));
  EXPECT_THAT(page, Not(HasSubstr("limit")));
}

TEST(Report, DrawsAChartForEachWay) {
  const std::vector<Row> rows = {row("rota", 4, 2e-6), row("rota", 64, 2e-6, State::kFresh)};
  const std::string svg = drawing_of(contests_of(rows), {"rota", "limit"}, "two ways");
  EXPECT_THAT(svg, HasSubstr("two ways"));
  EXPECT_THAT(svg, HasSubstr("warm"));
  EXPECT_THAT(svg, HasSubstr("fresh"));
}

}  // namespace
}  // namespace rota::bench
