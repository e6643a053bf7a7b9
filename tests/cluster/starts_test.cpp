// Tests pods that start one after the other, never start, or fail at the start: which pod waits for
// which, which pod reports the problem, and what can still be read afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cluster/kubectl.h"

namespace rota::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string gated(const std::string& manifests) {
  return with_pod_field(manifests, "schedulingGates: [{name: rota.test/later}]");
}

// Waits until `count` pods wait at their scheduling gate, and returns the names of these pods, by
// index.
std::vector<std::string> gated_pods(const Namespace& place, std::size_t count) {
  std::vector<std::string> names;
  becomes_true(
      [&] {
        names.clear();
        for (const json& pod : place.pods()) {
          if (pod["spec"].contains("schedulingGates")) names.push_back(name_of(pod));
        }
        return names.size() == count;
      },
      30s);
  if (names.size() != count) throw std::runtime_error("too few or too many pods wait at a gate");
  return names;
}

void let_start(const Namespace& place, const std::string& pod) {
  place.kubectl({"patch", "pod", pod, "--type", "json", "--patch",
                 R"([{"op": "remove", "path": "/spec/schedulingGates"}])"});
}

bool says(const Namespace& place, const std::string& pod, const std::string& text) {
  return becomes_true(
      [&] {
        try {
          return place.log(pod).find(text) != std::string::npos;
        } catch (const std::runtime_error&) {
          return false;  // The container does not exist yet.
        }
      },
      60s);
}

bool is_ready(const json& pod) {
  return std::ranges::any_of(pod["status"].value("conditions", json::array()),
                             [](const json& condition) {
                               return condition["type"] == "Ready" && condition["status"] == "True";
                             });
}

json failure_of(const Namespace& place) {
  const json job = place.get("job/mnist");
  for (const json& condition : job["status"]["conditions"]) {
    if (condition["type"] == "Failed") return condition;
  }
  return {};
}

// Method: a pod waits longer than the liveness probe allows. Host 0 starts neither first nor last.
TEST(PodsThatStartSecondsApart, WaitAliveAndAreReadyOnceTheWorldIsComplete) {
  const Namespace place;
  place.apply(replaced(gated(render({"--workers", "3"}, {"mnist", "--model", "seed", "--batch-size",
                                                         "1000", "--epochs", "10"})),
                       "periodSeconds: 10\n", "periodSeconds: 1\n"));
  const std::vector<std::string> pods = gated_pods(place, 3);
  let_start(place, pods[1]);
  EXPECT_TRUE(says(place, pods[1], "waiting for host 0 (mnist-0.mnist)"));
  let_start(place, pods[0]);
  EXPECT_TRUE(
      says(place, pods[0],
           "for 1 of 3 hosts: host 2 (mnist-2.mnist); rotarun cannot see whether its pod is "
           "suspended, pending or pulling its image: try kubectl describe pod"));
  EXPECT_THAT(place.status(pods[0], "/livez"), HasSubstr("ok"));
  for (const json& pod : place.pods()) EXPECT_FALSE(is_ready(pod)) << name_of(pod);
  let_start(place, pods[2]);
  EXPECT_TRUE(becomes_true([&] { return std::ranges::all_of(place.pods(), is_ready); }, 60s));
  EXPECT_EQ(place.end_of("job/mnist", 200s), "Complete");
  for (const json& pod : place.pods()) EXPECT_EQ(pod["status"]["phase"], "Succeeded");
  EXPECT_THAT(place.pods(), SizeIs(3));
}

TEST(APodWhoseImageIsMissing, IsNamedByTheOthersWhichEndAtTheDeadline) {
  const Namespace place;
  place.apply(gated(render({"--workers", "3", "--restarts", "1"},
                           {"--join-timeout", "12", "mnist", "--model", "seed"})));
  const std::vector<std::string> pods = gated_pods(place, 3);
  place.kubectl({"set", "image", "pod/" + pods[2], "rota=localhost/rota-missing:test"});
  for (const std::string& pod : pods) let_start(place, pod);

  ASSERT_TRUE(becomes_true([&] { return place.ends().size() == 2; }, 60s));
  constexpr const char* kCause =
      "1 of 3 hosts: host 2 (mnist-2.mnist) did not connect to mnist-0.mnist:7700";
  EXPECT_THAT(place.ends(), Each(AllOf(HasSubstr("200 "), HasSubstr(kCause))));
  for (int i = 0; i < 2; ++i) EXPECT_THAT(place.log(pods[i]), HasSubstr(kCause));

  // The replacement pods end in the same way and use up the job's restarts.
  for (const std::string& pod : gated_pods(place, 2)) let_start(place, pod);
  EXPECT_EQ(place.end_of("job/mnist", 120s), "Failed");
  EXPECT_THAT(place.ends(), Each(HasSubstr("200 ")));
  EXPECT_THAT(failure_of(place)["message"].get<std::string>(), HasSubstr("failed indexes"));
}

TEST(AProgramThatFails, EndsTheJobAndEveryPodThatIsLeftSaysWhy) {
  const Namespace place;
  place.apply(render({"--workers", "2"}, {"mnist", "--data", "/nowhere"}));
  ASSERT_EQ(place.end_of("job/mnist", 90s), "Failed");
  const json failure = failure_of(place);
  EXPECT_EQ(failure["reason"], "PodFailurePolicy");
  EXPECT_THAT(failure["message"].get<std::string>(),
              AllOf(HasSubstr("Container rota for pod " + place.name() + "/mnist-"),
                    HasSubstr("failed with exit code 66 matching FailJob rule at index 2")));
  const std::vector<std::string> ends = place.ends();
  EXPECT_THAT(ends, AllOf(Not(IsEmpty()), Each(AllOf(HasSubstr("66 rank "), HasSubstr("/nowhere"),
                                                     HasSubstr("exit code 66")))));
  for (const json& pod : place.pods()) {
    EXPECT_THAT(place.log(name_of(pod)),
                AllOf(HasSubstr("exited with code 66"), HasSubstr("/nowhere")));
  }
}

}  // namespace
}  // namespace rota::testing
