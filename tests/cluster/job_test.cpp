// A job as one apply makes it: every pod the same, and the ranks of all of them one world.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "cluster/kubectl.h"

namespace rota::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::string name_of(const json& pod) { return pod["metadata"]["name"]; }

// What the pod knows of who is where, once it knows it: "rank host address" for each rank. A pod
// whose container does not run yet does not answer, and has not met the others either.
std::vector<std::string> table_of(const Namespace& place, const std::string& pod) {
  json ranks;
  try {
    ranks = json::parse(place.status(pod, "/ranks"))["ranks"];
  } catch (const std::runtime_error&) {
    return {};
  }
  std::vector<std::string> lines;
  for (const json& rank : ranks) {
    lines.push_back(std::to_string(rank["rank"].get<int>()) + " " +
                    rank["host"].get<std::string>() + " " + rank["address"].dump());
  }
  return lines;
}

// That of every pod, once all of them know it of so many ranks.
std::vector<std::vector<std::string>> tables_of(const Namespace& place, std::size_t world_size) {
  std::vector<std::vector<std::string>> tables;
  becomes_true(
      [&] {
        tables.clear();
        for (const json& pod : place.pods()) tables.push_back(table_of(place, name_of(pod)));
        return !tables.empty() && std::ranges::all_of(tables, [&](const auto& table) {
          return table.size() == world_size;
        });
      },
      60s);
  return tables;
}

std::vector<std::string> hosts_of(const std::vector<std::string>& table) {
  std::vector<std::string> hosts;
  for (const std::string& line : table) {
    const std::size_t begin = line.find(' ') + 1;
    hosts.push_back(line.substr(begin, line.find(' ', begin) - begin));
  }
  return hosts;
}

std::vector<std::string> phases_of(const Namespace& place) {
  std::vector<std::string> phases;
  for (const json& pod : place.pods()) phases.push_back(pod["status"]["phase"]);
  return phases;
}

TEST(AJobOfFourPods, TrainsAndLeavesNothingButLogs) {
  const Namespace place;
  place.apply(render({"--workers", "4", "--slots", "2"}, {"mnist", "--epochs", "3"}));
  const auto tables = tables_of(place, 8);
  ASSERT_THAT(tables, SizeIs(4));
  EXPECT_THAT(tables, Each(Eq(tables[0])));
  EXPECT_THAT(hosts_of(tables[0]),
              ElementsAre("mnist-0.mnist", "mnist-0.mnist", "mnist-1.mnist", "mnist-1.mnist",
                          "mnist-2.mnist", "mnist-2.mnist", "mnist-3.mnist", "mnist-3.mnist"));

  ASSERT_EQ(place.end_of("job/mnist", 120s), "Complete");
  EXPECT_THAT(phases_of(place), ElementsAre("Succeeded", "Succeeded", "Succeeded", "Succeeded"));
  const std::vector<json> pods = place.pods();
  const std::string log = place.log(name_of(pods[0]));
  EXPECT_THAT(log, AllOf(HasSubstr("world 8 on 4 hosts"), HasSubstr("epoch 3/3"),
                         HasSubstr("test accuracy 9"), HasSubstr("weights ")));
  for (const json& pod : pods) {
    EXPECT_EQ(pod["status"]["containerStatuses"][0]["restartCount"], 0);
  }
}

// Method: with names as words mnist-10 would come before mnist-2.
TEST(AJobOfTwelvePods, CountsItsPodsAsNumbers) {
  const Namespace place;
  place.apply(render({"--workers", "12"}, {"mnist", "--model", "seed", "--epochs", "2"}));
  const auto tables = tables_of(place, 12);
  ASSERT_THAT(tables, SizeIs(12));
  EXPECT_THAT(tables, Each(Eq(tables[0])));
  std::vector<std::string> hosts;
  for (int i = 0; i < 12; ++i) hosts.push_back("mnist-" + std::to_string(i) + ".mnist");
  EXPECT_EQ(hosts_of(tables[0]), hosts);
  EXPECT_EQ(place.end_of("job/mnist", 120s), "Complete");
}

TEST(AJobOfThreePods, MayHaveOtherSlotsOnEach) {
  const Namespace place;
  const std::string all = render({"--workers", "3", "--slots", "2"}, {"mnist", "--epochs", "1"});
  place.apply(replaced(
      all,
      "name: ROTA_HOSTS\n              value: \"3\"\n"
      "            - name: ROTA_SLOTS\n              value: \"2\"",
      "name: ROTA_HOSTS\n              value: mnist-0.mnist:1,mnist-1.mnist:3,mnist-2.mnist:2"));
  const auto tables = tables_of(place, 6);
  ASSERT_THAT(tables, SizeIs(3));
  EXPECT_THAT(tables, Each(Eq(tables[0])));
  EXPECT_THAT(hosts_of(tables[0]), ElementsAre("mnist-0.mnist", "mnist-1.mnist", "mnist-1.mnist",
                                               "mnist-1.mnist", "mnist-2.mnist", "mnist-2.mnist"));
  EXPECT_EQ(place.end_of("job/mnist", 120s), "Complete");
}

}  // namespace
}  // namespace rota::testing
