// Tests how many hosts are worth it: the answer is the number at which efficiency becomes too low.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "predict/worth.h"

namespace rota::bench {
namespace {

using ::testing::HasSubstr;

// A step of one rank takes 10 ms.
const Workload kSteps{.name = "two",
                      .forward_seconds = 3e-3,
                      .gradients = {{"first", 65'536, 5e-3}, {"last", 32'768, 2e-3}}};

PredictArguments arguments_for(std::vector<std::string> words) {
  words.insert(words.begin(), "predict");
  std::vector<char*> pointers;
  pointers.reserve(words.size());
  for (std::string& word : words) pointers.push_back(word.data());
  auto options = predict_options();
  return predict_arguments_from(options.parse(static_cast<int>(pointers.size()), pointers.data()));
}

Worth worth_for(const std::vector<std::string>& words) {
  const PredictArguments arguments = arguments_for(words);
  return worth_of(arguments, kSteps, costs_of(arguments, {}));
}

double efficiency_on(std::size_t hosts, const std::vector<std::string>& words) {
  PredictArguments arguments = arguments_for(words);
  arguments.host_counts = {hosts};
  return efficiency_of(predict_worlds(arguments, kSteps, costs_of(arguments, {})).front().step);
}

std::string refusal_for(const std::vector<std::string>& words) {
  try {
    arguments_for(words);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

// The latency of a ring makes each further host cost more.
TEST(Worth, EndsWhereEfficiencyIsTooLow) {
  const std::vector<std::string> words{"--worth",   "80",   "--rate", "10G",
                                       "--latency", "30us", "--plan", "ring"};
  const Worth worth = worth_for(words);
  ASSERT_GT(worth.hosts, 2u);
  ASSERT_LT(worth.hosts, 4096u);
  EXPECT_FALSE(worth.is_limit);
  EXPECT_GE(efficiency_on(worth.hosts, words), 0.8);
  EXPECT_LT(efficiency_on(worth.hosts + 1, words), 0.8);
  EXPECT_TRUE(std::ranges::is_sorted(
      worth.tried, {}, [](const PredictedWorld& world) { return world.shape.host_count; }));
  const std::string text = to_text(kSteps, worth);
  EXPECT_THAT(text,
              HasSubstr("# At least 80.0 %: the largest world has " + std::to_string(worth.hosts) +
                        " hosts (" + std::to_string(worth.hosts) + " ranks), with"));
  EXPECT_THAT(text, HasSubstr("The next one has " + std::to_string(worth.hosts + 1) + " hosts"));
  const auto row = nlohmann::json::parse(to_json(kSteps, worth));
  EXPECT_EQ(row["event"], "worth");
  EXPECT_EQ(row["hosts"], worth.hosts);
  EXPECT_GE(row["efficiency"].get<double>(), 0.8);
}

// A byte takes 8 µs between hosts, so two of them are too slow.
TEST(Worth, MayBeOneHost) {
  const Worth worth =
      worth_for({"--worth", "80", "--rate", "1M", "--latency", "1ms", "--plan", "ring"});
  ASSERT_EQ(worth.hosts, 1u);
  const std::string text = to_text(kSteps, worth);
  EXPECT_THAT(text, HasSubstr("# At least 80.0 %: the largest world has 1 host (1 rank), with an "
                              "efficiency of 100.0 %. It computes as much as 1.0 ranks that wait"));
  EXPECT_THAT(text, HasSubstr("\n# The next one has 2 hosts (2 ranks), with an efficiency of "));
}

TEST(Worth, EndsWithTheLargestJob) {
  const Worth worth = worth_for({"--worth", "50", "--rate", "1T", "--latency", "1ns", "--plan",
                                 "ring", "--ranks-per-host", "3"});
  EXPECT_EQ(worth.hosts, 4096u / 3);
  EXPECT_TRUE(worth.is_limit);
  EXPECT_THAT(to_text(kSteps, worth), HasSubstr("A job has at most 4096 ranks"));
}

// The smallest world has one switch with all of its hosts.
TEST(Worth, MayBeNoWorld) {
  const Worth worth = worth_for({"--worth", "100", "--rate", "1M", "--latency", "1ms", "--plan",
                                 "ring", "--hosts-per-switch", "4"});
  EXPECT_EQ(worth.hosts, 0u);
  EXPECT_THAT(to_text(kSteps, worth), HasSubstr("no world is worth it: 4 hosts (4 ranks), with"));
  EXPECT_EQ(nlohmann::json::parse(to_json(kSteps, worth))["ranks"], 0);
}

TEST(Worth, EndsWithTheLargestWorldThatCanBePredicted) {
  const Worth worth = worth_for({"--worth", "1", "--rate", "1T", "--latency", "1ns", "--plan",
                                 "tree", "--jitter", "0.01", "--steps", "1"});
  EXPECT_EQ(worth.hosts, 512u);
  EXPECT_TRUE(worth.is_limit);
  EXPECT_THAT(to_text(kSteps, worth),
              HasSubstr("A larger world cannot be predicted: jitter makes ranks differ"));
}

// A world with jitter has at most 512 ranks. Between 128 hosts, which can be predicted, and 256,
// the search goes on.
TEST(Worth, FindsTheLargestWorldThatCanBePredictedBetweenTwoPowers) {
  const Worth worth =
      worth_for({"--worth", "1", "--rate", "1T", "--latency", "1ns", "--plan", "tree", "--jitter",
                 "0.01", "--steps", "1", "--ranks-per-host", "3"});
  EXPECT_EQ(worth.hosts, 512u / 3);
  EXPECT_TRUE(worth.is_limit);
  EXPECT_THAT(worth.refusal, HasSubstr("at most 512 ranks, and this one has 513"));
}

// 256 and 192 hosts are refused. Then fewer hosts are predicted, and are too many.
TEST(Worth, ForgetsTheRefusalsOfLargerWorlds) {
  std::vector<std::string> words{"--rate",   "1T",   "--latency", "1ns", "--plan",           "star",
                                 "--jitter", "1e-6", "--steps",   "1",   "--ranks-per-host", "3"};
  const double on_150 = 100 * efficiency_on(150, words);
  words.insert(words.end(), {"--worth", std::to_string(on_150 - 1e-4)});
  const Worth worth = worth_for(words);
  EXPECT_EQ(worth.hosts, 150u);
  EXPECT_EQ(worth.refusal, "");
  EXPECT_FALSE(worth.is_limit);
  EXPECT_THAT(to_text(kSteps, worth), HasSubstr("The next one has 151 hosts (453 ranks)"));
}

TEST(Worth, NeedsANetwork) {
  EXPECT_THROW(worth_for({"--worth", "80"}), std::invalid_argument);
  EXPECT_THROW(worth_for({"--worth", "80", "--rate", "1G"}), std::invalid_argument);
}

TEST(Worth, OfASmallestWorldThatIsImpossibleIsRefused) {
  EXPECT_THROW(worth_for({"--worth", "80", "--rate", "1G", "--latency", "1us", "--plan", "chain"}),
               std::invalid_argument);
}

// A world that no job can have is not worth anything.
TEST(Worth, RefusesASmallestWorldOfTooManyRanks) {
  const auto refusal = [](const std::string& option, const std::string& value) -> std::string {
    try {
      worth_for({"--worth", "80", "--rate", "1G", "--latency", "1us", option, value});
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("--ranks-per-host", "4097"),
            "--worth: the smallest world has 1 host of 4097 ranks, and a job has at most "
            "4096 ranks");
  EXPECT_EQ(refusal("--hosts-per-switch", "5000"),
            "--worth: the smallest world has 5000 hosts of 1 rank, and a job has at most "
            "4096 ranks");
}

// Worlds of the default number of hosts are not predicted, so there is no warning about them.
TEST(Worth, NamesNoNumberOfHosts) {
  EXPECT_TRUE(shapes_of(arguments_for({"--worth", "80", "--ranks-per-host", "4096"})).empty());
}

TEST(Worth, RefusesWhatIsNoEfficiency) {
  EXPECT_EQ(refusal_for({"--worth", "0"}), "--worth: the efficiency is 0; it must be more than 0");
  EXPECT_EQ(refusal_for({"--worth=-5"}), "--worth: the efficiency is -5; it must be more than 0");
  EXPECT_EQ(refusal_for({"--worth", "nan"}), "--worth: the efficiency is nan; it must be finite");
  EXPECT_EQ(refusal_for({"--worth", "100.1"}),
            "--worth: an efficiency of more than 100 % is not possible");
  for (const std::string other : {"hosts", "sizes"}) {
    EXPECT_EQ(refusal_for({"--worth", "80", "--" + other, "4"}),
              "--worth finds the number of hosts for training steps, so --" + other +
                  " has no meaning beside it");
  }
  EXPECT_EQ(arguments_for({"--worth", "75"}).least_efficiency, 0.75);
  EXPECT_EQ(arguments_for({}).least_efficiency, 0);
}

}  // namespace
}  // namespace rota::bench
