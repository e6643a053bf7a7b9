// Tests what `rota-bench overlap` concludes from its times, and which results it refuses.
#include "overlap/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "commands.h"
#include "overlap/digits.h"

namespace rota::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

// Returns the times of three rounds. In the last round the machine runs at half speed.
ContestResult result_of_three_rounds() {
  return {.options = {.batch_size = 50, .steps = 2, .rounds = 3},
          .transport = "tcp",
          .ranks = 2,
          .gradient_bytes = 4'000'000,
          .bucket_count = 3,
          .times = {.overlapped = {0.100, 0.080, 0.200},
                    .at_end = {0.125, 0.120, 0.250},
                    .compute = {0.075, 0.075, 0.150},
                    .communication = {0.050, 0.050, 0.100}},
          .overlapped_hash = 0xabc,
          .at_end_hash = 0xabc};
}

TEST(OverlapReport, TakesRatiosRoundByRound) {
  const ContestTimes times = result_of_three_rounds().times;
  const Spread gain = gain_of(times);
  EXPECT_DOUBLE_EQ(gain.median, 1.25);
  EXPECT_DOUBLE_EQ(gain.least, 1.25);
  EXPECT_DOUBLE_EQ(gain.most, 1.5);
  const Spread hidden = hidden_share_of(times);
  EXPECT_DOUBLE_EQ(hidden.median, 0.5);
  EXPECT_DOUBLE_EQ(hidden.least, 0.5);
  EXPECT_DOUBLE_EQ(hidden.most, 0.8);
}

TEST(OverlapReport, CountsWhatALinkCarries) {
  ContestResult result = result_of_three_rounds();
  EXPECT_DOUBLE_EQ(link_bytes_per_second(result), 80e6);
  result.ranks = 4;  // Each rank then sends and receives 6 / 4 of the bytes.
  EXPECT_DOUBLE_EQ(link_bytes_per_second(result), 120e6);
}

TEST(OverlapReport, ShowsPeopleTheMedians) {
  const std::string text = to_text(result_of_three_rounds());
  EXPECT_THAT(text, HasSubstr("batches of 50: tcp, 2 ranks, 3 rounds of 2 steps"));
  EXPECT_THAT(text, testing::ContainsRegex("backward pass +100.00  .80.00 to 200.00. +1000\n"));
  EXPECT_THAT(text, testing::ContainsRegex("communication hidden +0.50  .0.50 to 0.80.\n"));
}

TEST(OverlapReport, HasAnObjectForEachTimeAndOneForTheGain) {
  std::istringstream lines(to_json(result_of_three_rounds()));
  std::vector<json> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(json::parse(line));
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0]["name"], "overlapped");
  EXPECT_EQ(rows[1]["name"], "at_end");
  EXPECT_EQ(rows[1]["median_seconds"], 0.125);
  EXPECT_EQ(rows[1]["min_seconds"], 0.12);
  EXPECT_EQ(rows[1]["max_seconds"], 0.25);
  EXPECT_EQ(rows[1]["images_per_second"], 800);
  EXPECT_EQ(rows[2]["name"], "compute");
  EXPECT_EQ(rows[3]["name"], "communication");
  EXPECT_FALSE(rows[3].contains("images_per_second"));
  EXPECT_EQ(rows[4]["name"], "gain");
  EXPECT_EQ(rows[4]["times_as_fast"], 1.25);
  EXPECT_EQ(rows[4]["max_hidden_share"], 0.8);
  EXPECT_EQ(rows[4]["at_end_hash"], "0000000000000abc");
}

TEST(Digits, AreAFunctionOfCountAndSeed) {
  const Dataset digits = make_digits(30, 7);
  EXPECT_EQ(digits.count(), 30u);
  EXPECT_EQ(digits.pixels.size(), 30 * digits.shape.count());
  EXPECT_THAT(digits.labels, testing::Each(testing::Lt(digits.classes)));
  EXPECT_EQ(digits.pixels, make_digits(30, 7).pixels);
  EXPECT_NE(digits.pixels, make_digits(30, 8).pixels);
}

struct RefusedOverlap {
  std::vector<std::string> arguments;
  const char* sentence;
};

TEST(OverlapCommand, RefusesWhatMakesNoSense) {
  const RefusedOverlap refusals[] = {
      {{"--rounds", "0"}, "--rounds is 0; it must be at least 1"},
      {{"--steps", "0"}, "--steps is 0; it must be at least 1"},
      {{"--batch-size", "0"}, "--batch-size is 0; it must be at least 1"},
      {{"--rank", "0"}, "--rank and --addresses need each other"},
      {{"--addresses", "127.0.0.1:7001,127.0.0.1:7002"}, "--rank and --addresses need each other"},
      {{"--key-file", "key"}, "--key-file needs --rank and --addresses"},
      {{"--rank", "0", "--addresses", "127.0.0.1:7001", "--key-file", "/nowhere/key"},
       "--key-file: cannot read /nowhere/key"},
      {{"lenet"}, "'lenet' is not an option"},
  };
  for (auto [arguments, sentence] : refusals) {
    arguments.insert(arguments.begin(), "overlap");
    std::vector<char*> pointers;
    pointers.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_overlap_command(static_cast<int>(arguments.size()), pointers.data()), 2);
    const std::string complaint = testing::internal::GetCapturedStderr();
    EXPECT_THAT(complaint, StartsWith("rota-bench overlap: "));
    EXPECT_THAT(complaint, HasSubstr(sentence));
  }
}

}  // namespace
}  // namespace rota::bench
