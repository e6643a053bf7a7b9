// A job made by one `kubectl apply`: all pods are alike, and the ranks of all pods form one world.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

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

// Returns the table that the pod's first rank prints, without rotarun's earlier messages about
// waiting.
std::string table_of(const Namespace& place, const json& pod) {
  const std::string log = place.log(name_of(pod));
  const std::size_t begin = log.find("epoch 0 ");
  return begin == std::string::npos ? "no table in " + log : log.substr(begin);
}

// Returns the table that all pods print. Expects that the table is the same for all pods, and that
// the job succeeds.
std::string table_of_all(const Namespace& place) {
  EXPECT_EQ(place.end_of("job/mnist", 120s), "Complete");
  std::vector<std::string> tables;
  for (const json& pod : place.pods()) tables.push_back(table_of(place, pod));
  EXPECT_THAT(tables, Each(Eq(tables.at(0))));
  return tables.at(0);
}

// Returns the column of the hosts, below two header lines.
std::vector<std::string> hosts_of(const std::string& table) {
  std::istringstream lines(table);
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  std::vector<std::string> hosts;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string rank, local_rank;
    words >> rank >> local_rank >> hosts.emplace_back();
    EXPECT_EQ(rank, std::to_string(hosts.size() - 1));
  }
  return hosts;
}

TEST(AJobOfFourPods, TrainsAndLeavesNothingButLogs) {
  const Namespace place;
  place.apply(render({"--workers", "4", "--slots", "2"}, {"mnist", "--epochs", "2"}));
  ASSERT_EQ(place.end_of("job/mnist", 120s), "Complete");
  EXPECT_THAT(place.phases(), ElementsAre("Succeeded", "Succeeded", "Succeeded", "Succeeded"));
  const std::vector<json> pods = place.pods();
  EXPECT_THAT(place.log(name_of(pods[0])),
              AllOf(HasSubstr("world 8 on 4 hosts"), HasSubstr("epoch 2/2"),
                    HasSubstr("test accuracy 9"), HasSubstr("weights ")));
  for (const json& pod : pods) {
    EXPECT_EQ(pod["status"]["containerStatuses"][0]["restartCount"], 0);
  }
}

TEST(AJobOfFourPods, HasTheSameRanksForAll) {
  const Namespace place;
  place.apply(
      render({"--image", image("rota-test"), "--workers", "4", "--slots", "2"}, {"show_table"}));
  const std::string table = table_of_all(place);
  EXPECT_THAT(hosts_of(table),
              ElementsAre("mnist-0.mnist", "mnist-0.mnist", "mnist-1.mnist", "mnist-1.mnist",
                          "mnist-2.mnist", "mnist-2.mnist", "mnist-3.mnist", "mnist-3.mnist"));
}

// Method: if names were sorted as words, mnist-10 would come before mnist-2.
TEST(AJobOfTwelvePods, CountsItsPodsAsNumbers) {
  const Namespace place;
  place.apply(render({"--image", image("rota-test"), "--workers", "12"}, {"show_table"}));
  std::vector<std::string> hosts;
  hosts.reserve(12);
  for (int i = 0; i < 12; ++i) hosts.push_back("mnist-" + std::to_string(i) + ".mnist");
  EXPECT_EQ(hosts_of(table_of_all(place)), hosts);
}

TEST(AJobOfThreePods, MayHaveOtherSlotsOnEach) {
  const Namespace place;
  const std::string all =
      render({"--image", image("rota-test"), "--workers", "3", "--slots", "2"}, {"show_table"});
  place.apply(replaced(
      all,
      "name: ROTA_HOSTS\n              value: \"3\"\n"
      "            - name: ROTA_SLOTS\n              value: \"2\"",
      "name: ROTA_HOSTS\n              value: mnist-0.mnist:1,mnist-1.mnist:3,mnist-2.mnist:2"));
  EXPECT_THAT(hosts_of(table_of_all(place)),
              ElementsAre("mnist-0.mnist", "mnist-1.mnist", "mnist-1.mnist", "mnist-1.mnist",
                          "mnist-2.mnist", "mnist-2.mnist"));
}

}  // namespace
}  // namespace rota::testing
