// Tests pods of the same namespace that are not members of the job. The job refuses them at its
// rendezvous port, prints which pods they are, and is not disturbed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/harm.h"
#include "cluster/kubectl.h"

namespace rota::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Returns a pod that the restricted security level admits. `more` goes into its container.
std::string pod_of(const std::string& name, const std::string& image_name,
                   const std::string& command, const json& more = json::object()) {
  json container = {{"name", "rota"},
                    {"image", image(image_name)},
                    {"command", json::parse(command)},
                    {"securityContext",
                     {{"allowPrivilegeEscalation", false}, {"capabilities", {{"drop", {"ALL"}}}}}}};
  container.update(more);
  const json pod = {{"apiVersion", "v1"},
                    {"kind", "Pod"},
                    {"metadata", {{"name", name}}},
                    {"spec",
                     {{"restartPolicy", "Never"},
                      {"enableServiceLinks", false},
                      {"automountServiceAccountToken", false},
                      {"securityContext",
                       {{"runAsNonRoot", true},
                        {"runAsUser", 10001},
                        {"fsGroup", 10001},
                        {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
                      {"containers", json::array({container})}}}};
  return pod.dump();
}

// Returns a pod that holds another key and claims to be the last pod of the job.
std::string impostor(const std::string& name, const std::string& secret) {
  json pod = json::parse(
      pod_of(name, "rota-mnist", R"(["rotarun", "--join-timeout", "20", "mnist"])",
             {{"env", json::array({{{"name", "ROTA_HOSTS"}, {"value", "2"}},
                                   {{"name", "ROTA_SERVICE"}, {"value", "mnist"}},
                                   {{"name", "ROTA_SLOTS"}, {"value", "1"}},
                                   {{"name", "JOB_COMPLETION_INDEX"}, {"value", "1"}}})},
              {"volumeMounts", json::array({{{"name", "key"}, {"mountPath", "/etc/rota"}}})}}));
  pod["spec"]["hostname"] = "mnist-1";
  pod["spec"]["volumes"] =
      json::array({{{"name", "key"}, {"secret", {{"secretName", secret}, {"defaultMode", 0400}}}}});
  return pod.dump();
}

// Creates the Secret that `rotarun render` prints for a job of this name.
void keep_key_of(const Namespace& place, const std::string& name) {
  const std::string objects = render({"--name", name, "--workers", "2"}, {"mnist"});
  const std::string secret = objects.substr(0, objects.find("---\n"));
  ASSERT_THAT(secret, HasSubstr("kind: Secret"));
  place.apply(secret);
}

std::string end_of_pod(const Namespace& place, const std::string& name) {
  std::string phase;
  becomes_true(
      [&] {
        phase = place.get("pod/" + name)["status"].value("phase", "");
        return phase == "Succeeded" || phase == "Failed";
      },
      150s);
  return phase;
}

std::string address_of(const Namespace& place, const std::string& pod) {
  return place.get("pod/" + pod)["status"]["podIP"];
}

// Method: the job's second pod starts after the strangers' attempts. So the strangers meet a
// waiting job, at a port that is open to every holder of the job's key.
TEST(AStranger, IsRefusedAndNamedAndTheJobTrains) {
  const Namespace place;
  const std::string job = render({"--workers", "2"}, {"mnist", "--epochs", "1"});
  place.apply(replaced(job, "parallelism: 2", "parallelism: 1"));
  keep_key_of(place, "elsewhere");
  keep_key_of(place, "last-week");

  place.apply(pod_of("nobody", "rota-test", R"(["stranger", "mnist-0.mnist", "7700"])"));
  EXPECT_EQ(end_of_pod(place, "nobody"), "Succeeded") << place.log("nobody");
  for (const std::string name : {"elsewhere", "last-week"}) {
    place.apply(impostor(name, name + "-key"));
    EXPECT_EQ(end_of_pod(place, name), "Failed");
    EXPECT_THAT(place.log(name),
                AllOf(HasSubstr("did not let this host in"), Not(HasSubstr("epoch"))));
  }

  place.kubectl({"patch", "job", "mnist", "--patch", R"({"spec": {"parallelism": 2}})"});
  EXPECT_EQ(place.end_of("job/mnist", 120s), "Complete");
  const std::string log = place.log(place.pods()[0]["metadata"]["name"]);
  EXPECT_THAT(log, AllOf(HasSubstr("world 2 on 2 hosts"), HasSubstr("epoch 1/1")));
  const auto names = [&](const std::string& what, const std::string& pod) {
    return HasSubstr("turned away: " + what + " (it called from " + address_of(place, pod) + ")");
  };
  const std::string other_key = "it holds another key, or belongs to another job";
  EXPECT_THAT(log, AllOf(names("it is not a rota program", "nobody"), names(other_key, "elsewhere"),
                         names(other_key, "last-week")));
}

// Method: the job becomes complete only after the stranger has waited for an answer without
// success. Without the policy the job would hang up on the stranger.
TEST(AStranger, DoesNotReachAJobUnderANetworkPolicy) {
  if (!may_harm()) GTEST_SKIP() << "Not every cluster enforces policies, and this is not ours.";
  const Namespace place;
  const std::string job =
      render({"--workers", "3", "--slots", "2"}, {"mnist", "--model", "seed", "--epochs", "1"});
  place.apply(with_component(replaced(job, "parallelism: 3", "parallelism: 2"), "network-policy"));
  ASSERT_TRUE(becomes_true([&] { return place.pods().size() == 2; }, 30s));
  const std::string leader = name_of(place.pods()[0]);
  EXPECT_TRUE(becomes_true(
      [&] { return place.get("pod/" + leader)["status"].value("phase", "") == "Running"; }, 60s));

  place.apply(pod_of("nobody", "rota-test", R"(["stranger", "mnist-0.mnist", "7700", "15"])"));
  EXPECT_EQ(end_of_pod(place, "nobody"), "Failed");
  EXPECT_THAT(place.log("nobody"), HasSubstr("nobody is there"));
  EXPECT_THAT(place.status(leader, "/livez"), HasSubstr("ok"));  // This port is open to everyone.

  place.kubectl({"patch", "job", "mnist", "--patch", R"({"spec": {"parallelism": 3}})"});
  EXPECT_EQ(place.end_of("job/mnist", 120s), "Complete");
  EXPECT_THAT(place.log(leader), AllOf(HasSubstr("world 6 on 3 hosts"), HasSubstr("weights "),
                                       Not(HasSubstr("turned away"))));
}

}  // namespace
}  // namespace rota::testing
