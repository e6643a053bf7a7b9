// Tests faults of pods and nodes while a world trains. Every host is told about the fault
// immediately. The world forms again, and ends with the weights of an undisturbed world. If it has
// no restarts left, it fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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

// One second is intended. Five are allowed, because the machine may be busy.
constexpr double kAtOnceSeconds = 5;

bool has_condition(const World& world, const std::string& type) {
  const json status = world.place().get("job/mnist")["status"];
  for (const json& condition : status.value("conditions", json::array())) {
    if (condition["type"] == type && condition["status"] == "True") return true;
  }
  return false;
}

// Returns the log of a JobSet's host 0.
std::string log_of_set(const World& world) {
  return world.place().log(name_of(world.place().pods().at(0)));
}

// Returns the number of restarts of a JobSet's pods: all restarts, and those that count towards the
// limit.
json restarts_of_set(const World& world) {
  const json status = world.place().get("jobset/mnist")["status"];
  return {status.value("restarts", 0), status.value("restartsCountTowardsMax", 0)};
}

// Expects that each failed pod except `killed` prints the whole cause within kAtOnceSeconds.
void expect_that_all_know(const std::string& cause, const World& world, Clock::time_point moment,
                          const std::string& killed = {}) {
  EXPECT_THAT(world.seconds_until_said(cause, moment, killed),
              AllOf(Not(IsEmpty()), Each(Le(kAtOnceSeconds))));
}

// Expects that, after any fault, a Job's world and a JobSet's world end like an undisturbed world.
void expect_the_same_weights(const World& undisturbed, const World& job, const World& set) {
  const std::string end = undisturbed.end();
  EXPECT_THAT(end, MatchesRegex("Complete [0-9a-f]+"));
  EXPECT_EQ(job.end(), end);
  EXPECT_EQ(set.end(), "Completed" + end.substr(end.find(' ')));
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

  ASSERT_TRUE(becomes_true([&] { return job.place().ends(deleted).size() >= 2; }, 30s));
  expect_that_all_know("host 1 (mnist-1.mnist) got SIGTERM", job, moment, deleted);
  EXPECT_THAT(job.place().ends(deleted),
              Contains(HasSubstr("143 host 1 (mnist-1.mnist) got SIGTERM")).Times(2));

  expect_the_same_weights(undisturbed, job, set);
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

  ASSERT_TRUE(becomes_true([&] { return job.place().ends().size() == 3; }, 20s));
  expect_that_all_know("lost host 1 (mnist-1.mnist)", job, moment, name_of(killed));
  EXPECT_THAT(job.place().ends(), Each(MatchesRegex("137 |201 lost host 1 .*")));

  EXPECT_EQ(without_budget.end(), "Failed");
  EXPECT_THAT(without_budget.place().phases(), Each(Eq("Failed")));

  expect_the_same_weights(undisturbed, job, set);
  EXPECT_EQ(restarts_of_set(set), json({1, 1}));
  EXPECT_THAT(log_of_set(set), HasSubstr("epoch 1 · world 3"));
}

// Method: the pod whose container is killed is replaced. The other pods stay, and their containers
// start again.
TEST_F(AHarmedWorld, StartsAgainInPlaceWhereRulesSaySo) {
  const World undisturbed;
  const World world({}, World::Length::kShort, {"restart-rules"});
  const std::vector<json> before = world.training_pods();
  kill_container(before.at(1));
  EXPECT_EQ(world.end(), undisturbed.end());

  const std::vector<json> after = world.place().pods();
  for (const std::size_t index : {0, 2}) {
    const auto has_the_name = [&](const json& pod) {
      return name_of(pod) == name_of(before[index]);
    };
    const auto pod = std::ranges::find_if(after, has_the_name);
    ASSERT_NE(pod, after.end()) << name_of(before[index]);
    EXPECT_GE((*pod)["status"]["containerStatuses"][0]["restartCount"], 1);
  }
}

// Method: hosts agree on a success. So hosts on other nodes end with a success only if the rank on
// the node without a kubelet has trained to its end.
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
  EXPECT_FALSE(has_condition(world, "Complete"));  // No kubelet reports those pods.
  harmed.cure();
  EXPECT_EQ(world.end(), undisturbed.end());
  EXPECT_THAT(world.place().phases(), AllOf(SizeIs(3), Each(Eq("Succeeded"))));
}

// Method: one cut serves all worlds, because each cut disturbs everything else in the cluster.
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
  // Nobody knows whether the pods on the cut node still run.
  EXPECT_FALSE(has_condition(without_budget, "Failed"));
  harmed.cure();
  const World undisturbed;

  ASSERT_TRUE(becomes_true([&] { return job.place().ends().size() == 3; }, 60s));
  expect_that_all_know("lost host ", job, moment);
  EXPECT_THAT(job.place().ends(), Each(MatchesRegex("201 lost host .*")));
  EXPECT_EQ(without_budget.end(), "Failed");
  EXPECT_THAT(without_budget.place().phases(), Each(Eq("Failed")));

  expect_the_same_weights(undisturbed, job, set);
  EXPECT_EQ(restarts_of_set(set), json({1, 1}));
}

}  // namespace
}  // namespace rota::testing
