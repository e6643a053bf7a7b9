// Tests the decisions of `rota-bench tune`: what it predicts from a model, which plans it runs, and
// which plans it keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "predict/prediction.h"
#include "tune/selection.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

// Returns a model of hosts with one rank each. All costs are zero unless a test sets them.
WorldModel hosts_of_one(std::size_t count) {
  WorldModel model;
  for (std::size_t rank = 0; rank < count; ++rank) model.hosts.push_back(rank);
  return model;
}

TEST(Prediction, OfLatencyIsTheHops) {
  WorldModel model = hosts_of_one(8);
  model.between_hosts.latency_seconds = 1;
  constexpr std::size_t kBytes = 1 << 10;
  EXPECT_EQ(predict(model, Algorithm::kRing, kBytes), 14);
  EXPECT_EQ(predict(model, Algorithm::kDirect, kBytes), 2);
  EXPECT_EQ(predict(model, Algorithm::kHub, kBytes), 2);
  EXPECT_EQ(predict(model, Algorithm::kStar, kBytes), 2);
  EXPECT_EQ(predict(model, Algorithm::kTree, kBytes), 6);
  EXPECT_EQ(predict(model, Algorithm::kHalvingDoubling, kBytes), 6);
}

TEST(Prediction, OfBytesIsTheBusiestCable) {
  WorldModel model = hosts_of_one(4);
  model.between_hosts.seconds_per_byte = 1;
  constexpr std::size_t kBytes = 4 << 10;
  EXPECT_EQ(predict(model, Algorithm::kRing, kBytes), 1.5 * kBytes);
  EXPECT_EQ(predict(model, Algorithm::kDirect, kBytes), 1.5 * kBytes);
  EXPECT_EQ(predict(model, Algorithm::kHalvingDoubling, kBytes), 1.5 * kBytes);
  EXPECT_EQ(predict(model, Algorithm::kTree, kBytes), 4.0 * kBytes);
  EXPECT_EQ(predict(model, Algorithm::kStar, kBytes), 6.0 * kBytes);
}

TEST(Prediction, OfMessagesIsWhoHasMostOfThem) {
  WorldModel model = hosts_of_one(4);
  model.between_hosts.busy_seconds = 1;
  constexpr std::size_t kBytes = 1 << 10;
  EXPECT_LT(predict(model, Algorithm::kHub, kBytes), predict(model, Algorithm::kDirect, kBytes));
  // Each rank sends 6 messages and receives 6.
  EXPECT_EQ(predict(model, Algorithm::kRing, kBytes), 12);
}

TEST(Prediction, OfAdditionsIsTheBusiestRank) {
  WorldModel model = hosts_of_one(4);
  model.reduce_seconds_per_byte = 1;
  constexpr std::size_t kBytes = 4 << 10;
  EXPECT_EQ(predict(model, Algorithm::kRing, kBytes), 0.75 * kBytes);
  EXPECT_EQ(predict(model, Algorithm::kStar, kBytes), 3.0 * kBytes);
}

TEST(Prediction, OfTwoLevelsIsHalfTheBytesOnTheCableOfTwoRanks) {
  WorldModel model;
  model.hosts = {0, 0, 2, 2, 4, 4, 6, 6};
  model.between_hosts.seconds_per_byte = 1;
  constexpr std::size_t kBytes = 8 << 10;
  EXPECT_EQ(predict(model, Algorithm::kTwoLevel, kBytes), 1.5 * kBytes);
  EXPECT_GT(predict(model, Algorithm::kDirect, kBytes), 1.5 * kBytes);
}

TEST(Prediction, OfSharedMemoryIsPassesOverIt) {
  WorldModel model{.hosts = {0, 0}, .shares_memory = true};
  model.within_host.latency_seconds = 1;
  model.reduce_seconds_per_byte = 1;
  EXPECT_EQ(predict(model, Algorithm::kShared, 1024), 2 + 1024);
}

Size size_of(std::size_t bytes, std::vector<Candidate> candidates) {
  return {.bytes = bytes, .by_default = Algorithm::kRing, .candidates = std::move(candidates)};
}

TEST(Selection, RunsTheBestFewAndTheDefault) {
  const Size size = size_of(4, {{Algorithm::kRing, 90},
                                {Algorithm::kDirect, 10},
                                {Algorithm::kTree, 12},
                                {Algorithm::kHub, 17},
                                {Algorithm::kStar, 30}});
  EXPECT_THAT(worth_a_run(size, 1),
              ElementsAre(Algorithm::kDirect, Algorithm::kTree, Algorithm::kRing));
  EXPECT_THAT(worth_a_run(size, 2), Contains(Algorithm::kHub));  // Nearly as fast as the tree.
  EXPECT_THAT(worth_a_run(size, 2), Not(Contains(Algorithm::kStar)));
  EXPECT_EQ(worth_a_run(size, 9).size(), 5u);
  EXPECT_THAT(worth_a_run(size, 0), Contains(Algorithm::kDirect));
}

TEST(Selection, KeepsTheDefaultUnlessMuchIsGained) {
  const auto measured = [](double ring, double tree) {
    return size_of(4, {{Algorithm::kRing, 1, Times{ring, ring}},
                       {Algorithm::kTree, 1, Times{tree, tree}},
                       {Algorithm::kStar, 1, {}}});
  };
  EXPECT_EQ(winner_of(measured(104, 100), 0.05), Algorithm::kRing);
  EXPECT_EQ(winner_of(measured(106, 100), 0.05), Algorithm::kTree);
  EXPECT_EQ(winner_of(measured(100, 106), 0.05), Algorithm::kRing);
  EXPECT_EQ(default_by_fastest(measured(150, 100)), 1.5);
}

TEST(Selection, GoesFromOneWinnerToTheNextHalfwayBetweenSizes) {
  const auto won = [](std::size_t bytes, double tree) {
    return size_of(
        bytes, {{Algorithm::kRing, 1, Times{100, 100}}, {Algorithm::kTree, 1, Times{tree, tree}}});
  };
  EXPECT_THAT(
      rows_of({won(4, 50), won(16, 50), won(64, 200), won(256, 200)}, 0.05),
      ElementsAre(TunedTable::Row{0, Algorithm::kTree}, TunedTable::Row{32, Algorithm::kRing}));
  EXPECT_THAT(rows_of({won(1024, 200)}, 0.05), ElementsAre(TunedTable::Row{0, Algorithm::kRing}));
}

TEST(Selection, HasOnlyPlansOfTheSameBitsWhereThatIsAskedFor) {
  EXPECT_THAT(plans_of_all_reduce(false, true), ElementsAre(Algorithm::kRing, Algorithm::kDirect,
                                                            Algorithm::kHub, Algorithm::kByHost));
  EXPECT_THAT(plans_of_all_reduce(true, true),
              ElementsAre(Algorithm::kRing, Algorithm::kDirect, Algorithm::kHub, Algorithm::kByHost,
                          Algorithm::kShared));
  for (const Algorithm algorithm : plans_of_all_reduce(true, false)) {
    EXPECT_TRUE(collectives::makes(algorithm, collectives::Collective::kAllReduce));
  }
}

// A wrong argument is refused before the rank joins.
TEST(Tune, RefusesNumbersThatAreNone) {
  const auto run = [](std::vector<std::string> words) {
    words.insert(words.begin(), "tune");
    std::vector<char*> arguments;
    arguments.reserve(words.size());
    for (std::string& word : words) arguments.push_back(word.data());
    ::testing::internal::CaptureStderr();
    const int code = run_tune_command(static_cast<int>(arguments.size()), arguments.data());
    return std::pair(code, ::testing::internal::GetCapturedStderr());
  };
  const auto refusal = [](const std::string& text) {
    return std::pair(2, "rota-bench tune: " + text + "\n");
  };
  EXPECT_EQ(run({"--seconds", "0.1x"}), refusal("--seconds: '0.1x' is not a number"));
  EXPECT_EQ(run({"--seconds", "-1"}),
            refusal("--seconds is -1; it must be finite and more than 0"));
  EXPECT_EQ(run({"--seconds", "inf"}),
            refusal("--seconds is inf; it must be finite and more than 0"));
  EXPECT_EQ(run({"--try", "0"}), refusal("--try is 0; it must be at least 1"));
  EXPECT_EQ(run({"--try", "3.5"}), refusal("--try: '3.5' is not a whole number"));
  EXPECT_EQ(run({"--calibration", "a", "--output", "b"}),
            refusal("--calibration runs no plan, so there is nothing for --output"));
}

}  // namespace
}  // namespace rota::bench
