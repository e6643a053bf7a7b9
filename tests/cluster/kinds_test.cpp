// The kind of controller does not matter: the same training run ends with the same bits on pods of
// an Indexed Job, a JobSet, a TrainJob, a StatefulSet or TFJob, and on the network of the nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "cluster/kubectl.h"
#include "testing/key_text.h"
#include "testing/paths.h"

namespace rota::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::chrono::seconds kPatience = 180s;
const Arguments kTraining = {"mnist", "--epochs", "1"};

// Returns a job of eight ranks, on four hosts unless `hosts` says otherwise.
std::string eight_ranks(const std::string& kind,
                        const Arguments& hosts = {"--workers", "4", "--slots", "2"}) {
  Arguments options = {"--kind", kind};
  options.insert(options.end(), hosts.begin(), hosts.end());
  return render(options, kTraining);
}

// Returns the weights that rank 0 prints at its end; empty before.
std::string weights_in(const std::string& log) {
  std::smatch found;
  return std::regex_search(log, found, std::regex("done in .* weights ([0-9a-f]{16})"))
             ? found[1].str()
             : std::string();
}

bool is_done(const Namespace& place, const json& pod) {
  try {
    return place.status(name_of(pod), "/readyz").starts_with("done");
  } catch (const std::runtime_error&) {
    return false;  // Not ready.
  }
}

// Keeps deleted pods visible while this object lives.
class Kept {
 public:
  Kept(const Namespace& place, const std::vector<json>& pods) : place_(place) {
    for (const json& pod : pods) names_.push_back(name_of(pod));
    patch_all(R"({"metadata": {"finalizers": ["rota.test/kept"]}})");
  }
  Kept(Kept&&) = delete;
  ~Kept() {
    try {
      patch_all(R"({"metadata": {"finalizers": null}})");
    } catch (const std::runtime_error& error) {
      ADD_FAILURE() << error.what();
    }
  }

 private:
  void patch_all(const std::string& patch) const {
    for (const std::string& name : names_) {
      place_.kubectl({"patch", "pod", name, "--type=merge", "-p", patch});
    }
  }

  const Namespace& place_;
  std::vector<std::string> names_;
};

class EveryKind : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Namespace place;
    place.apply(eight_ranks("job"));
    ASSERT_EQ(place.end_of("job/mnist", kPatience), "Complete");
    job_weights = weights_in(place.log(name_of(place.pods()[0])));
    ASSERT_THAT(job_weights, SizeIs(16));
  }

  // Runs a job of a kind that ends on its own. `condition`: the expected end of the job.
  static void expect_the_same_weights(const std::string& kind, const std::string& condition) {
    const Namespace place;
    place.apply(eight_ranks(kind));
    ASSERT_EQ(place.end_of(kind + "/mnist", kPatience), condition);
    EXPECT_THAT(place.phases(), AllOf(SizeIs(4), Each(Eq("Succeeded"))));
    EXPECT_EQ(weights_in(place.log(name_of(place.pods()[0]))), job_weights);
  }

  static inline std::string job_weights;
};

TEST_F(EveryKind, TrainsAsAJobSetToTheSameWeights) {
  expect_the_same_weights("jobset", "Completed");
}

// Method: one file has the runtime and its job, as users apply them.
TEST_F(EveryKind, TrainsAsATrainJobToTheSameWeights) {
  expect_the_same_weights("trainjob", "Complete");
}

// Method: a deleted pod vanishes before its container's exit code can be read, unless the pod is
// kept.
TEST_F(EveryKind, TrainsAsAStatefulSetThatSaysDoneAndEndsWithZeroWhenDeleted) {
  const Namespace place;
  place.apply(eight_ranks("statefulset"));
  std::vector<json> pods;
  ASSERT_TRUE(becomes_true(
      [&] {
        pods = place.pods();
        return pods.size() == 4 &&
               std::ranges::all_of(pods, [&](const json& pod) { return is_done(place, pod); });
      },
      kPatience));
  EXPECT_EQ(weights_in(place.log("mnist-0")), job_weights);

  const Kept kept(place, pods);
  place.kubectl({"delete", "statefulset/mnist", "--wait=false"});
  const std::vector<std::string> succeeded(4, "Succeeded");
  EXPECT_TRUE(becomes_true([&] { return place.phases() == succeeded; }, 60s));
  for (const json& pod : place.pods()) {
    const json& container = pod["status"]["containerStatuses"][0];
    EXPECT_EQ(container["restartCount"], 0);
    EXPECT_EQ(container["state"]["terminated"]["exitCode"], 0);
  }
}

// Returns the objects as TFJob's controller makes them: names include the namespace, and each pod
// has a Service.
std::string as_tf_job(const std::string& name_space) {
  std::string yaml = kubectl({"kustomize", source_path("k8s/overlays/tfjob")});
  const auto replace_all = [&](const std::string& pattern, const std::string& by) {
    const std::string before = std::exchange(yaml, {});
    yaml = std::regex_replace(before, std::regex(pattern), by);
    EXPECT_NE(yaml, before) << pattern;
  };
  replace_all("(mnist-[a-z]+-[0-9]):2222", "$1." + name_space + ".svc:2222");
  replace_all("image: rota-mnist", "image: " + image("rota-mnist"));
  replace_all("cpu: 500m", "cpu: 50m");
  replace_all("- --model\n( *)- mlp\n", "- --epochs\n$1- \"1\"\n");
  return yaml;
}

// Method: the parameter server and the evaluator have no ranks and end when the workers end.
TEST_F(EveryKind, TrainsByTheTfConfigOfTfJobToTheSameWeights) {
  const Namespace place;
  place.kubectl({"create", "secret", "generic", "mnist-key",
                 "--from-literal=key=" + testing::key_text('k', 64)});
  place.apply(as_tf_job(place.name()));
  EXPECT_TRUE(becomes_true(
      [&] { return place.phases() == std::vector<std::string>(6, "Succeeded"); }, kPatience));
  EXPECT_THAT(place.phases(), Each(Eq("Succeeded")));
  EXPECT_EQ(weights_in(place.log("mnist-chief-0")), job_weights);
  for (const char* idle : {"mnist-ps-0", "mnist-evaluator-0"}) {
    EXPECT_EQ(weights_in(place.log(idle)), "") << idle;
  }
}

// Returns a job with pods on the network of their nodes. The host name of such a pod is its node's
// name, so the manifest sets ROTA_HOST.
std::string on_host_network(std::string job) {
  job = replaced(std::move(job), "      restartPolicy: Never\n",
                 "      restartPolicy: Never\n"
                 "      hostNetwork: true\n"
                 "      dnsPolicy: ClusterFirstWithHostNet\n");
  return replaced(std::move(job), "          env:\n", R"(          env:
            - name: POD_INDEX
              valueFrom:
                fieldRef:
                  fieldPath: metadata.labels['batch.kubernetes.io/job-completion-index']
            - name: ROTA_HOST
              value: mnist-$(POD_INDEX)
)");
}

// Method: on the host network a pod's port is a port of its node, so each node can have only one
// pod.
TEST_F(EveryKind, TrainsOnTheNetworkOfTheNodesToTheSameWeights) {
  const Namespace place("privileged");
  place.apply(on_host_network(eight_ranks("job", {"--workers", "2", "--slots", "4"})));
  ASSERT_EQ(place.end_of("job/mnist", kPatience), "Complete");
  const std::vector<json> pods = place.pods();
  for (const json& pod : pods) EXPECT_EQ(pod["status"]["podIP"], pod["status"]["hostIP"]);
  EXPECT_THAT(place.log(name_of(pods[0])), HasSubstr("world 8 on 2 hosts"));
  EXPECT_EQ(weights_in(place.log(name_of(pods[0]))), job_weights);
}

}  // namespace
}  // namespace rota::testing
