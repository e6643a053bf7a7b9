// Tests the tables and the picture that `rota-bench scale-page` makes from rows. The rows are made
// up here: no page of docs/ has them.
#include "scale/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "scale/verdict.h"

namespace rota::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

ScaleRow scaled(const std::string& name, std::size_t hosts, double step) {
  return {.name = name,
          .transport = name == "rota" ? "tcp" : "",
          .model = "lenet",
          .ranks = hosts,
          .hosts = hosts,
          .batch_size = 100,
          .megabits = 1000,
          .gradient_bytes = 6'653'480,
          .step = {step, step, step},
          .waiting = {step - 0.040, 0, step},
          .computing = {0.040, 0.040, 0.040},
          .communication = {0.050, 0.050, 0.050},
          .least_step = 0.050,
          .efficiency = {0.040 / step, 0.040 / step, 0.040 / step}};
}

std::vector<ScaleTable> tables_of(const std::vector<ScaleRow>& rows) {
  std::string text;
  for (const ScaleRow& row : rows) text += to_json(row);
  std::istringstream lines(text);
  return scale_tables_from(lines);
}

// Returns two rounds of two libraries on two and on eight hosts.
std::vector<ScaleRow> two_rounds() {
  return {scaled("rota", 2, 0.050), scaled("Gloo", 2, 0.100), scaled("rota", 8, 0.064),
          scaled("Gloo", 8, 0.080), scaled("rota", 2, 0.050), scaled("Gloo", 2, 0.125),
          scaled("rota", 8, 0.080), scaled("Gloo", 8, 0.080)};
}

TEST(ScalePage, HasALineForEachLibraryAndJob) {
  const std::string text = markdown_of(tables_of(two_rounds()), "rota");
  EXPECT_THAT(
      text, HasSubstr("**lenet, weak scaling, hosts at 1 Gbit/s: measured**\n\n| ranks | hosts |"));
  EXPECT_THAT(text, HasSubstr("| efficiency | bytes allow, computed | rota / this |\n"));
  EXPECT_THAT(text, HasSubstr("| 2 | 2 | rota tcp | 50.00 | 10.00 | 40.00 | 50.00 | 80.0 % "
                              "(80.0 to 80.0) | 80.0 % | 1.00 (1.00 to 1.00) |\n"));
  EXPECT_THAT(text, HasSubstr("| 2 | 2 | Gloo | 112.50 | 72.50 |"));
  EXPECT_THAT(text, HasSubstr("| 8 | 8 | rota tcp | 72.00 |"));
}

TEST(ScalePage, DividesOursByTheirsRoundByRound) {
  const std::string text = markdown_of(tables_of(two_rounds()), "rota");
  EXPECT_THAT(text, testing::ContainsRegex("2 . 2 . Gloo .* 0.45 .0.40 to 0.50. .\n"));
  EXPECT_THAT(text, testing::ContainsRegex("8 . 8 . Gloo .* 0.90 .0.80 to 1.00. .\n"));
}

TEST(ScalePage, HasADashWhereOursIsNotMeasured) {
  const std::string text = markdown_of(tables_of({scaled("Gloo", 2, 0.100)}), "rota");
  EXPECT_THAT(text, HasSubstr("| 80.0 % | - |\n"));
}

TEST(ScalePage, RefusesLibrariesOfDifferentRounds) {
  const std::vector<ScaleTable> tables =
      tables_of({scaled("rota", 2, 0.050), scaled("rota", 2, 0.050), scaled("Gloo", 2, 0.100)});
  EXPECT_THROW(markdown_of(tables, "rota"), std::runtime_error);
}

TEST(ScalePage, SeparatesModelsScalingsAndNetworks) {
  ScaleRow strong = scaled("rota", 2, 0.050);
  strong.scaling = Scaling::kStrong;
  ScaleRow slow = scaled("rota", 2, 0.050);
  slow.megabits = 100;
  ScaleRow alone = scaled("rota", 2, 0.050);
  alone.megabits = {};
  ScaleRow real = alone;
  real.is_real = true;
  real.least_step = 0;
  ScaleRow real_on_hosts = real;
  real_on_hosts.megabits = 100;
  const auto tables =
      tables_of({scaled("rota", 2, 0.050), strong, slow, alone, real, real_on_hosts});
  ASSERT_EQ(tables.size(), 6u);
  EXPECT_EQ(tables[1].title, "lenet, strong scaling, hosts at 1 Gbit/s");
  EXPECT_EQ(tables[2].title, "lenet, weak scaling, hosts at 100 Mbit/s");
  EXPECT_EQ(tables[3].title, "lenet, weak scaling, one host");
  EXPECT_EQ(tables[4].title, "lenet, trained, weak scaling, one host");
  EXPECT_EQ(tables[5].title, "lenet, trained, weak scaling, hosts at 100 Mbit/s");
  EXPECT_THAT(markdown_of(tables, "rota"), HasSubstr("(80.0 to 80.0) | - | 1.00"));
}

TEST(ScalePage, DrawsPacedWeakScalingAndWhatBytesAllow) {
  ScaleRow strong = scaled("rota", 2, 0.050);
  strong.scaling = Scaling::kStrong;
  std::vector<ScaleRow> rows = two_rounds();
  rows.push_back(strong);
  const std::string picture = drawing_of(tables_of(rows), "efficiency");
  for (const char* word : {"weak scaling", "rota", "Gloo", "bytes allow, computed", ">100 %<"}) {
    EXPECT_THAT(picture, HasSubstr(word));
  }
  EXPECT_THAT(picture, Not(HasSubstr("strong")));
}

TEST(ScaleVerdict, HoldsEightHostsToWhatBytesAllowAndToTheBestPeer) {
  // Bytes allow 80 %, which rota reaches in the first case alone.
  const auto verdicts = [](double ours, double theirs) {
    return verdicts_of(tables_of({scaled("rota", 8, ours), scaled("Gloo", 8, theirs)}), "rota");
  };
  EXPECT_EQ(verdicts(0.050, 0.064),
            "- met: lenet, weak scaling, hosts at 1 Gbit/s, 8 hosts: the efficiency of rota is "
            "80.0 %; the bound is at least 80.0 %.\n"
            "- met: lenet, weak scaling, hosts at 1 Gbit/s, 8 hosts: the efficiency of rota is "
            "80.0 %; that of Gloo is 62.5 %.\n");
  const std::string missed = verdicts(0.080, 0.064);
  EXPECT_THAT(missed,
              HasSubstr("- **missed**: lenet, weak scaling, hosts at 1 Gbit/s, 8 hosts: the "
                        "efficiency of rota is 50.0 %; the bound is at least 80.0 %.\n"));
  EXPECT_THAT(missed, HasSubstr("is 50.0 %; that of Gloo is 62.5 %.\n"));
  EXPECT_THAT(missed, Not(HasSubstr("- met")));
}

TEST(ScaleVerdict, WantsNoMoreThanNinetyFivePercent) {
  ScaleRow row = scaled("rota", 8, 0.040 / 0.96);
  row.least_step = 0.040;
  EXPECT_THAT(verdicts_of(tables_of({row}), "rota"),
              HasSubstr("is 96.0 %; the bound is at least 95.0 %.\n"));
}

TEST(ScaleVerdict, IsSilentAboutOtherJobs) {
  ScaleRow slow = scaled("rota", 8, 0.080);
  slow.megabits = 100;
  ScaleRow real = scaled("rota", 8, 0.080);
  real.is_real = true;
  ScaleRow strong = scaled("rota", 8, 0.080);
  strong.scaling = Scaling::kStrong;
  const ScaleRow few = scaled("rota", 4, 0.080);
  const ScaleRow other = scaled("Gloo", 8, 0.080);
  EXPECT_EQ(verdicts_of(tables_of({slow, real, strong, few, other}), "rota"), "");
}

TEST(ScalePage, RefusesALineThatIsNoRow) {
  std::istringstream lines("rota is fast\n");
  EXPECT_THROW(scale_tables_from(lines), std::runtime_error);
}

}  // namespace
}  // namespace rota::bench
