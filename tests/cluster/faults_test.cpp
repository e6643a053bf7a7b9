// What befalls pods and nodes while a world trains: everybody knows at once, the world forms again
// as often as it may and ends with the weights of one that nothing has befallen, or it fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/harm.h"
#include "cluster/world.h"

namespace rota::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;
using Clock = std::chrono::system_clock;

// Five times what it is to be, as the machine may be busy.
constexpr double kAtOnceSeconds = 5;

std::string name_of(const json& pod) { return pod["metadata"]["name"]; }

// The pods that have ended, as "code reason".
std::vector<std::string> ends_of(const World& world) {
  std::vector<std::string> ends;
  for (const json& pod : world.place().pods()) {
    const json& state = pod["status"]["containerStatuses"][0]["state"];
    if (!state.contains("terminated")) continue;
    const json& end = state["terminated"];
    ends.push_back(std::to_string(end["exitCode"].get<int>()) + " " + end.value("message", ""));
  }
  return ends;
}

std::vector<std::string> phases_of(const World& world) {
  std::vector<std::string> phases;
  for (const json& pod : world.place().pods()) phases.push_back(pod["status"]["phase"]);
  return phases;
}

bool has_condition(const World& world, const std::string& type) {
  const json status = world.place().get("job/mnist")["status"];
  for (const json& condition : status.value("conditions", json::array())) {
    if (condition["type"] == type && condition["status"] == "True") return true;
  }
  return false;
}

// What a JobSet's host 0 has printed, and how often its pods were started again: all, and counted.
std::string log_of_set(const World& world) {
  return world.place().log(name_of(world.place().pods().at(0)));
}

json restarts_of_set(const World& world) {
  const json status = world.place().get("jobset/mnist")["status"];
  return {status.value("restarts", 0), status.value("restartsCountTowardsMax", 0)};
}

// Each pod that is left of it and was not killed says the whole cause in its log.
void expect_that_all_know(const std::string& cause, const World& world, Clock::time_point moment,
                          const std::string& killed = {}) {
  EXPECT_THAT(world.seconds_until_said(cause, moment, killed),
              AllOf(Not(IsEmpty()), Each(Le(kAtOnceSeconds))));
}

class AHarmedWorld : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!may_harm()) GTEST_SKIP() << "The nodes are not this machine's: ROTA_TEST_HARM is not set.";
  }
};

TEST(ADeletedPod, StopsAllAndCountsForNothing) {
  const World job({"--restarts", "0"});
  const std::string deleted = name_of(job.training_pods().at(1));
  const Clock::time_point moment = Clock::now();
  job.place().kubectl({"delete", "pod", deleted, "--wait=false"});
  const World set({"--kind", "jobset", "--restarts", "0"});
  set.place().kubectl({"delete", "pod", name_of(set.training_pods().at(1)), "--wait=false"});
  const World undisturbed;

  ASSERT_TRUE(becomes_true([&] { return ends_of(job).size() >= 2; }, 30s));
  expect_that_all_know("host 1 (mnist-1.mnist) got SIGTERM", job, moment);
  EXPECT_THAT(ends_of(job), Contains(HasSubstr("143 host 1 (mnist-1.mnist) got SIGTERM")).Times(2));

  const std::string end = undisturbed.end();
  EXPECT_THAT(end, MatchesRegex("Complete [0-9a-f]+"));
  EXPECT_EQ(job.end(), end);
  EXPECT_EQ(set.end(), "Completed" + end.substr(end.find(' ')));
  EXPECT_EQ(restarts_of_set(set), json({1, 0}));
  EXPECT_THAT(log_of_set(set), HasSubstr("epoch 1 · world 3"));
}

TEST_F(AHarmedWorld, WhoseContainerIsKilledFormsAgainWithinItsBudgetAndFailsBeyond) {
  const World job;
  const json killed = job.training_pods().at(1);
  const Clock::time_point moment = Clock::now();
  kill_container(killed);
  const World set({"--kind", "jobset"});
  kill_container(set.training_pods().at(1));
  const World without_budget({"--restarts", "0"}, World::Length::kEndless);
  kill_container(without_budget.training_pods().at(1));
  const World undisturbed;

  ASSERT_TRUE(becomes_true([&] { return ends_of(job).size() == 3; }, 20s));
  expect_that_all_know("lost host 1 (mnist-1.mnist)", job, moment, name_of(killed));
  EXPECT_THAT(ends_of(job), Each(MatchesRegex("137 |201 lost host 1 .*")));

  EXPECT_EQ(without_budget.end(), "Failed");
  EXPECT_THAT(phases_of(without_budget), Each(Eq("Failed")));

  const std::string end = undisturbed.end();
  EXPECT_THAT(end, MatchesRegex("Complete [0-9a-f]+"));
  EXPECT_EQ(job.end(), end);
  EXPECT_EQ(set.end(), "Completed" + end.substr(end.find(' ')));
  EXPECT_EQ(restarts_of_set(set), json({1, 1}));
  EXPECT_THAT(log_of_set(set), HasSubstr("epoch 1 · world 3"));
}

// Method: hosts agree on a success, so those of other nodes end with one only where the rank on the
// node without a kubelet has trained to its end.
TEST_F(AHarmedWorld, TrainsOnWithoutAKubelet) {
  const World undisturbed;
  const World world;
  const std::string node = world.training_pods().at(1)["spec"]["nodeName"];
  HarmedNode harmed = HarmedNode::without_kubelet(node);
  EXPECT_TRUE(becomes_true(
      [&] {
        for (const json& pod : world.place().pods()) {
          if (pod["spec"]["nodeName"] != node && pod["status"]["phase"] != "Succeeded")
            return false;
        }
        return true;
      },
      60s));
  EXPECT_FALSE(has_condition(world, "Complete"));  // Nobody says what has become of the pods there.
  harmed.cure();
  EXPECT_EQ(world.end(), undisturbed.end());
  EXPECT_THAT(phases_of(world), AllOf(SizeIs(3), Each(Eq("Succeeded"))));
}

// Method: all on one cut, which whoever else uses the cluster has to live with.
TEST_F(AHarmedWorld, WhoseNodeIsCutOffFormsAgainWithinItsBudgetAndFailsBeyond) {
  const World without_budget({"--restarts", "0"}, World::Length::kEndless);
  without_budget.training_pods();
  const World set({"--kind", "jobset"});
  const World job;
  set.training_pods();
  const std::string node = job.training_pods().at(1)["spec"]["nodeName"];
  const Clock::time_point moment = Clock::now();
  HarmedNode harmed = HarmedNode::cut_off(node);

  EXPECT_TRUE(becomes_true([&] { return has_condition(without_budget, "FailureTarget"); }, 30s));
  EXPECT_FALSE(
      has_condition(without_budget, "Failed"));  // Nobody knows whether its pods still run.
  harmed.cure();
  const World undisturbed;

  ASSERT_TRUE(becomes_true([&] { return ends_of(job).size() == 3; }, 60s));
  expect_that_all_know("lost host ", job, moment);
  EXPECT_THAT(ends_of(job), Each(MatchesRegex("201 lost host .*")));
  EXPECT_EQ(without_budget.end(), "Failed");
  EXPECT_THAT(phases_of(without_budget), Each(Eq("Failed")));

  const std::string end = undisturbed.end();
  EXPECT_THAT(end, MatchesRegex("Complete [0-9a-f]+"));
  EXPECT_EQ(job.end(), end);
  EXPECT_EQ(set.end(), "Completed" + end.substr(end.find(' ')));
  EXPECT_EQ(restarts_of_set(set), json({1, 1}));
}

}  // namespace
}  // namespace rota::testing
