// What a strict namespace admits, and what a pod sees of its node: its own share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/kubectl.h"

namespace rota::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

// The rank table of a pod with so many cores of its node, and no word about slots.
json table_with(const Namespace& place, const std::string& cores) {
  const std::string name = "mnist-" + cores;
  const std::string job = render({"--name", name, "--workers", "1", "--cpu", cores},
                                 {"--show-ranks", "--json", "mnist"});
  place.apply(replaced(job, "            - name: ROTA_SLOTS\n              value: \"1\"\n", ""));
  EXPECT_EQ(place.end_of("job/" + name, 60s), "Complete");
  return json::parse(place.kubectl({"logs", "job/" + name}));
}

// Method: on nodes with more than one core. On others there would be nothing to see.
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

// Method: each rank has a shared buffer of twice what a runtime gives a pod as /dev/shm, where no
// volume says otherwise.
TEST(APod, HasRoomForSharedBuffersWithoutAVolumeForThem) {
  const Namespace place;
  place.apply(
      render({"--image", image("rota-test"), "--workers", "1", "--slots", "2", "--memory", "512Mi"},
             {"shared_buffers"}));
  EXPECT_EQ(place.end_of("job/mnist", 60s), "Complete");
  EXPECT_THAT(place.kubectl({"logs", "job/mnist"}),
              AllOf(HasSubstr("/dev/shm has 64 MiB"), HasSubstr("128 MiB are right")));
}

// Method: a Job is made also where its pods are not admitted; its events say so then.
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
    ADD_FAILURE() << "it was admitted";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("violates PodSecurity"));
  }
}

}  // namespace
}  // namespace rota::testing
