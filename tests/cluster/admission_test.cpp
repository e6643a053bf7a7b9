// Tests which pods a strict namespace admits, and which cores of its node a pod sees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/kubectl.h"

namespace rota::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Returns the rank table of a pod with this limit of cores and without declared slots.
json table_with(const Namespace& place, const std::string& cores) {
  const std::string name = "mnist-" + cores;
  const std::string job = render({"--name", name, "--workers", "1", "--cpu", cores},
                                 {"--show-ranks", "--json", "mnist"});
  place.apply(replaced(job, "            - name: ROTA_SLOTS\n              value: \"1\"\n", ""));
  EXPECT_EQ(place.end_of("job/" + name, 60s), "Complete");
  return json::parse(place.kubectl({"logs", "job/" + name}));
}

// Method: needs nodes with more than one core. With one core the limit would not show.
TEST(APod, SeesTheCoresOfItsLimit) {
  int fewest = 1000;
  const json nodes = json::parse(kubectl({"get", "nodes", "-o", "json"}));
  for (const json& node : nodes["items"]) {
    const std::string cores = node["status"]["capacity"]["cpu"];
    fewest = std::min(fewest, std::stoi(cores));
  }
  if (fewest < 2) GTEST_SKIP() << "a node has one core only";
  const Namespace place;
  EXPECT_EQ(table_with(place, "1")["world"], 1);
  EXPECT_EQ(table_with(place, "2")["world"], 2);
}

// Method: the ranks' shared buffers are twice as large as the /dev/shm that a runtime gives a pod
// without a volume for it.
TEST(APod, HasRoomForSharedBuffersWithoutAVolumeForThem) {
  const Namespace place;
  place.apply(
      render({"--image", image("rota-test"), "--workers", "1", "--slots", "2", "--memory", "512Mi"},
             {"shared_buffers"}));
  EXPECT_EQ(place.end_of("job/mnist", 60s), "Complete");
  EXPECT_THAT(place.kubectl({"logs", "job/mnist"}),
              AllOf(HasSubstr("/dev/shm has 64 MiB"), HasSubstr("128 MiB are right")));
}

// Method: a Job exists even if its pods are not admitted. The events then give the reason.
TEST(ARestrictedNamespace, AdmitsThePodsOfEveryKind) {
  for (const std::string kind : {"job", "jobset", "statefulset", "trainjob"}) {
    SCOPED_TRACE(kind);
    const Namespace place;
    place.apply(render({"--kind", kind, "--workers", "2"}, {"mnist", "--epochs", "1"}));
    const bool are_there =
        becomes_true([&] { return place.get("pods")["items"].size() == 2; }, 30s);
    EXPECT_TRUE(are_there) << kind << ":\n" << place.kubectl({"get", "events"});
  }
}

TEST(ARestrictedNamespace, RefusesWhatIsNotRestricted) {
  const Namespace place;
  try {
    place.kubectl({"run", "root", "--image", image("rota")});
    ADD_FAILURE() << "an unrestricted pod was admitted";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("violates PodSecurity"));
  }
}

}  // namespace
}  // namespace rota::testing
