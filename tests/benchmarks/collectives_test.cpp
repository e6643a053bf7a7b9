// Tests what the benchmark knows and computes about collectives: factors, layouts, values, sizes,
// statistics, rows, tables and charts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "collectives/arguments.h"
#include "collectives/names.h"
#include "collectives/numbers.h"
#include "collectives/row.h"
#include "collectives/sizes.h"
#include "collectives/table.h"
#include "collectives/work.h"
#include "plot/chart.h"
#include "statistics.h"

namespace rota::bench {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Statistics, MedianIsTheMiddleOfTheSortedSamples) {
  EXPECT_EQ(median({5}), 5);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 1, 2, 9}), 3);
}

TEST(Statistics, PercentileIsASampleThatMostDoNotExceed) {
  std::vector<double> samples(200);
  std::iota(samples.rbegin(), samples.rend(), 1.0);
  EXPECT_EQ(percentile(samples, 99), 198);
  EXPECT_EQ(percentile(samples, 100), 200);
  EXPECT_EQ(percentile({3, 1, 2}, 99), 3);
  EXPECT_EQ(percentile({7}, 1), 7);
}

TEST(Sizes, HaveUnits) {
  EXPECT_THAT(parse_sizes("4"), ElementsAre(4));
  EXPECT_THAT(parse_sizes("8,3K,64M,1G"), ElementsAre(8, 3 << 10, 64 << 20, 1 << 30));
}

TEST(Sizes, HaveRanges) {
  EXPECT_THAT(parse_sizes("4:64:x4"), ElementsAre(4, 16, 64));
  EXPECT_THAT(parse_sizes("1K:5K:x2,1M"), ElementsAre(1 << 10, 2 << 10, 4 << 10, 1 << 20));
  EXPECT_THAT(parse_sizes("4:256M:x4"), testing::SizeIs(14));
  EXPECT_THAT(parse_sizes("8:8:x10"), ElementsAre(8));
}

TEST(Sizes, ArePositive) {
  for (const char* text : {"", "0", "-4", "4,,8", "x", "4X", "4KB", "4:", "4:8", "4:8:2", "8:4:x2",
                           "4:8:x1", "4:8:x", "4:8:x2:x2", ":8:x2", "99999999999999999999"}) {
    EXPECT_THROW(parse_sizes(text), std::invalid_argument) << text;
  }
}

TEST(Sizes, AreWrittenInTheLargestUnit) {
  EXPECT_EQ(to_words(4), "4 B");
  EXPECT_EQ(to_words(1536), "1536 B");
  EXPECT_EQ(to_words(16 << 10), "16 KiB");
  EXPECT_EQ(to_words(256 << 20), "256 MiB");
}

TEST(Collectives, HaveTheFactorsOfNcclTests) {
  EXPECT_EQ(bus_factor(Collective::kAllReduce, 4), 1.5);
  for (const Collective collective :
       {Collective::kReduceScatter, Collective::kAllGather, Collective::kGather,
        Collective::kScatter, Collective::kAllToAll}) {
    EXPECT_EQ(bus_factor(collective, 4), 0.75) << to_string(collective);
  }
  EXPECT_EQ(bus_factor(Collective::kBroadcast, 4), 1);
  EXPECT_EQ(bus_factor(Collective::kReduce, 4), 1);
  EXPECT_EQ(bus_factor(Collective::kPingPong, 4), 2);
  EXPECT_EQ(bus_factor(Collective::kBarrier, 4), 0);
}

TEST(Collectives, HaveARootOrNone) {
  for (const Collective collective : all_collectives()) {
    const bool is_to_or_from_one =
        collective == Collective::kReduce || collective == Collective::kGather ||
        collective == Collective::kScatter || collective == Collective::kBroadcast ||
        collective == Collective::kPingPong;
    EXPECT_EQ(has_root(collective), is_to_or_from_one) << to_string(collective);
  }
}

TEST(Collectives, AreKnownByTheirNames) {
  for (const Collective collective : all_collectives()) {
    EXPECT_EQ(collective_named(to_string(collective)), collective);
  }
  EXPECT_THAT(collectives_named("reduce,all-to-all"),
              ElementsAre(Collective::kReduce, Collective::kAllToAll));
  EXPECT_TRUE(collectives_named("").empty());
  EXPECT_TRUE(collectives_named("reduce,").empty());
  EXPECT_TRUE(collectives_named("kernel").empty());
}

TEST(Work, PartsAreEquallyLong) {
  EXPECT_EQ(total_of(Collective::kAllReduce, DataType::kFloat32, 1024, 3), 256U);
  EXPECT_EQ(total_of(Collective::kAllGather, DataType::kFloat32, 1024, 3), 255U);
  EXPECT_EQ(total_of(Collective::kAllGather, DataType::kFloat32, 4, 3), 3U);
  EXPECT_EQ(total_of(Collective::kAllReduce, DataType::kFloat64, 4, 3), 1U);
  EXPECT_EQ(total_of(Collective::kBarrier, DataType::kFloat32, 1024, 3), 0U);
}

TEST(Work, KnowsWhereValuesLie) {
  Work work{.collective = Collective::kReduceScatter, .total = 12};
  EXPECT_EQ(layout_of(work, 2, 3), (Layout{{0, 12}, {8, 4}}));
  work.placement = Placement::kOutOfPlace;
  EXPECT_EQ(layout_of(work, 2, 3), (Layout{{0, 12}, {0, 4}}));
  work.collective = Collective::kReduce;
  EXPECT_EQ(layout_of(work, 0, 3), (Layout{{0, 12}, {0, 12}}));
  EXPECT_EQ(layout_of(work, 1, 3), (Layout{{0, 12}, {0, 0}}));
  work.collective = Collective::kPingPong;
  EXPECT_EQ(layout_of(work, 0, 3), (Layout{{0, 12}, {0, 12}}));
  EXPECT_EQ(layout_of(work, 1, 3), (Layout{{0, 0}, {0, 12}}));
  EXPECT_EQ(layout_of(work, 2, 3), (Layout{{0, 0}, {0, 0}}));
}

TEST(Arguments, HaveTheNumbersOfCalls) {
  const auto method_of = [](const std::vector<const char*>& words) {
    cxxopts::Options options = measurement_options("program");
    const auto given = options.parse(static_cast<int>(words.size()), words.data());
    return arguments_from("all-reduce", given).method;
  };
  const Method few = method_of({"program", "--iterations", "3", "--back-to-back", "7"});
  EXPECT_EQ(few.iterations, 3U);
  EXPECT_EQ(few.back_to_back, 7U);
  const Method usual = method_of({"program"});
  EXPECT_FALSE(usual.iterations.has_value());
  EXPECT_FALSE(usual.back_to_back.has_value());
}

// In a world of one rank every collective copies its input. This also holds for reductions.
TEST(Numbers, AreThoseThatAWorldOfOneHasToLeave) {
  constexpr std::size_t kCount = 23;
  std::vector<double> memory(kCount);  // Aligned for every type.
  auto* bytes = reinterpret_cast<std::byte*>(memory.data());
  for (const DataType type : kDataTypes) {
    for (const Collective collective : all_collectives()) {
      if (collective == Collective::kBarrier) continue;
      const Work work{.collective = collective, .type = type, .total = kCount};
      write_values(work, 0, 1, {bytes, bytes});
      EXPECT_EQ(count_errors(work, 0, 1, {bytes, bytes}), 0U) << to_string(collective);
      bytes[bytes_of(type) * 5] ^= std::byte{1};
      EXPECT_EQ(count_errors(work, 0, 1, {bytes, bytes}), 1U) << to_string(collective);
    }
  }
}

TEST(Numbers, DifferFromRankToRank) {
  const Work work{.collective = Collective::kAllGather, .total = 8};
  std::vector<float> all(8);
  auto* bytes = reinterpret_cast<std::byte*>(all.data());
  write_values(work, 0, 2, {bytes, bytes});
  EXPECT_NE(count_errors(work, 0, 2, {bytes, bytes}), 0U);
  write_values(work, 1, 2, {bytes, bytes});
  EXPECT_EQ(count_errors(work, 0, 2, {bytes, bytes}), 0U);
}

Row some_row() {
  return {.name = "rota shm",
          .ranks = 4,
          .work = {.collective = Collective::kReduceScatter,
                   .type = DataType::kInt32,
                   .op = ReduceOp::kMax,
                   .placement = Placement::kOutOfPlace,
                   .total = 1024},
          .plan = "auto",
          .memory = Memory::kAny,
          .state = State::kFresh,
          .calls = Calls::kIsolated,
          .min_seconds = 1e-6,
          .median_seconds = 2e-6,
          .p99_seconds = 3e-6,
          .errors = 0,
          .peak_memory_bytes = 8192};
}

TEST(Row, IsReadAsItWasWritten) {
  const std::string json = to_json(some_row());
  EXPECT_THAT(json, HasSubstr(R"("collective": "reduce-scatter", "bytes": 4096, "count": 256, )"
                              R"("type": "int32", "op": "max", "plan": "auto", )"
                              R"("codec": "identity", "memory": "any", "state": "fresh", )"));
  EXPECT_THAT(json, HasSubstr(R"("min_us": 1, "median_us": 2, "p99_us": 3, "algbw_gbps": 2.048, )"
                              R"("busbw_gbps": 1.536, "errors": 0, )"));
  const auto row = parse_row(json);
  ASSERT_TRUE(row);
  EXPECT_EQ(to_json(*row), json);
}

TEST(Row, SaysThatNothingWasChecked) {
  Row row = some_row();
  row.errors.reset();
  EXPECT_THAT(to_json(row), HasSubstr(R"("errors": null)"));
  EXPECT_FALSE(parse_row(to_json(row))->errors.has_value());
}

TEST(Row, SaysWhatACodecLost) {
  Row row = some_row();
  row.work = {.codec = Codec::kInt8Stochastic, .total = 1024};
  row.relative_error = 0.02;
  const std::string json = to_json(row);
  EXPECT_THAT(json, HasSubstr(R"("codec": "int8-stochastic")"));
  EXPECT_THAT(json, HasSubstr(R"("relative_error": 0.02)"));
  EXPECT_EQ(to_json(parse_row(json).value()), json);
  EXPECT_THAT(Table().add({.out_of_place = {}, .in_place = row}), EndsWith(" 2.0e-02\n"));
}

// The table has the columns of nccl-tests, because programs that read the output of nccl-tests
// count its columns.
TEST(Table, HasTheColumnsOfNcclTests) {
  Line line{.out_of_place = some_row(), .in_place = {}};
  const auto words_of = [](const std::string& text) {
    std::istringstream in(text.substr(text.find('\n') + 1));
    return std::vector<std::string>(std::istream_iterator<std::string>(in), {});
  };
  EXPECT_THAT(words_of(Table().add(line)), ElementsAre("4096", "256", "int32", "max", "-1", "2.00",
                                                       "2.048", "1.536", "0", "-", "-", "-", "-"));
  line.in_place = line.out_of_place;
  line.in_place->errors = 7;
  EXPECT_THAT(Table().add(line), EndsWith("   1.536      7\n"));
  line.in_place->work.collective = Collective::kBroadcast;
  line.in_place->errors.reset();
  line.out_of_place.reset();
  EXPECT_THAT(words_of(Table().add(line)),
              ElementsAre("4096", "1024", "int32", "none", "0", "-", "-", "-", "-", "2.00", "2.048",
                          "2.048", "N/A"));
  EXPECT_THAT(Table::head("rota shm", 4), HasSubstr("# rota shm, 4 ranks\n"));
  EXPECT_THAT(Table::head("rota shm", 4),
              HasSubstr("  redop  root     time   algbw   busbw #wrong"));
}

// Rows of another section wait until the current section is finished.
TEST(Table, HasASectionForEachManner) {
  Table table;
  Line line{.out_of_place = some_row(), .in_place = {}};
  Line other = line;
  other.out_of_place->calls = Calls::kBackToBack;
  other.out_of_place->plan = "ring";
  EXPECT_THAT(table.add(line),
              StartsWith("# reduce-scatter, plan auto, any memory, fresh, isolated calls\n"));
  EXPECT_EQ(table.add(other), "");
  EXPECT_THAT(table.add(line), StartsWith("        4096 "));
  EXPECT_EQ(table.add(other), "");
  line.out_of_place->work.collective = Collective::kAllGather;
  const std::string text = table.add(line);
  EXPECT_THAT(text,
              StartsWith("# reduce-scatter, plan ring, any memory, fresh, back-to-back calls\n"));
  EXPECT_THAT(text, HasSubstr("\n# all-gather, "));
  EXPECT_EQ(std::ranges::count(text, '\n'), 5);
}

TEST(Table, ClosesAsNcclTestsDo) {
  Line line{.out_of_place = some_row(), .in_place = some_row()};
  line.in_place->median_seconds /= 2;
  Table right;
  right.add(line);
  EXPECT_EQ(right.finish(),
            "# Out of bounds values : 0 OK\n"
            "# Avg bus bandwidth    : 2.304\n");
  line.in_place->errors = 3;
  Table wrong;
  wrong.add(line);
  wrong.add(line);
  EXPECT_THAT(wrong.finish(), StartsWith("# Out of bounds values : 6 FAILED\n"));
  line.in_place->errors.reset();
  line.out_of_place->errors.reset();
  Table unknown;
  unknown.add(line);
  EXPECT_THAT(unknown.finish(), StartsWith("# Out of bounds values : N/A\n"));
  EXPECT_EQ(Table().finish(), "");
}

TEST(Table, FitsIntoATerminal) {
  Row row = some_row();
  row.work = {.collective = Collective::kAllReduce,
              .type = DataType::kBfloat16,
              .op = ReduceOp::kProduct,
              .codec = Codec::kInt8Stochastic,
              .total = 50'000'000'000};
  row.plan = "halving-doubling";
  row.errors = 123'456'789;
  row.relative_error = 0.5;
  std::string text = Table::head("rota shm+tcp", 1024);
  for (const double seconds : {0.0501234, 1.2345678, 98.7654321}) {
    row.min_seconds = row.median_seconds = row.p99_seconds = seconds;
    Table table;
    text += table.add({.out_of_place = row, .in_place = row}) + table.finish();
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
}

TEST(Chart, DrawsACurveAndItsNameOnce) {
  const Curve curve{.name = "a < b", .points = {{4, 1e-6}, {1024, 2e-6}, {0, 1}, {8, 0}}};
  const std::string svg = draw_charts(
      "both", {{.title = "warm", .curves = {curve}}, {.title = "fresh", .curves = {curve}}});
  EXPECT_THAT(svg, StartsWith("<svg "));
  EXPECT_THAT(svg, EndsWith("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr(">4 B<"));
  EXPECT_THAT(svg, HasSubstr(">1 µs<"));
  EXPECT_EQ(svg.find("a &lt; b"), svg.rfind("a &lt; b"));
  EXPECT_THAT(svg, Not(testing::ContainsRegex("nan|inf")));
  std::size_t circles = 0;
  for (auto at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1)) {
    ++circles;
  }
  EXPECT_EQ(circles, 4U);
}

TEST(Chart, ShowsEfficiencyFromNothingToAll) {
  const Curve curve{.name = "rota tcp", .points = {{1, 1.0}, {2, 0.93}, {16, 0.5}}};
  const std::string svg =
      draw_charts("scaling", {{.title = "weak", .curves = {curve}}}, Axes::kEfficiencyByWorkers);
  for (const char* label : {">0 %<", ">20 %<", ">100 %<", ">1<", ">8<", ">16<"}) {
    EXPECT_THAT(svg, HasSubstr(label));
  }
  EXPECT_THAT(svg, Not(HasSubstr(">120 %<")));
  EXPECT_THAT(svg, Not(HasSubstr(">16 B<")));
  EXPECT_THAT(svg, Not(testing::ContainsRegex("nan|inf")));
}

TEST(Chart, MayBeEmpty) {
  EXPECT_THAT(draw_charts("none", {}), Not(testing::ContainsRegex("nan|inf")));
}

}  // namespace
}  // namespace rota::bench
