// A job with a volume resumes from its newest checkpoint when its pods come again, and TensorBoard
// shows the curves of a job that nobody disturbed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "cluster/harm.h"
#include "cluster/volume.h"
#include "cluster/world.h"

namespace rota::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::MatchesRegex;

// A World trains on 60,000 images for 30 epochs. Each of its 3 ranks takes 1000 of them in a step.
constexpr int kEpochSteps = 20;
constexpr int kSteps = 600;
constexpr int kPointSteps = 10;  // From one point of the curves of training to the next.

std::string index_of(const json& pod) {
  return pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"];
}

// Returns the running pod of host 1, once host 0 has resumed and trains. Throws if that does not
// happen.
json resumed_pod(const World& world) {
  json pod;
  const auto resumes = [&] {
    pod = nullptr;
    bool trains = false;
    for (const json& each : world.place().pods()) {
      if (each["status"]["phase"] != "Running") continue;
      if (index_of(each) == "1") pod = each;
      if (index_of(each) != "0") continue;
      const std::string log = world.place().log(name_of(each));
      const std::size_t mark = log.find("resumes after step ");
      trains = mark != std::string::npos && log.find("loss ", mark) != std::string::npos;
    }
    return trains && pod != nullptr;
  };
  if (!becomes_true(resumes, 90s)) throw std::runtime_error("the job does not resume");
  return pod;
}

// Returns the steps of the points of the curve "cost". Returns no steps if TensorBoard does not yet
// know the curve.
std::vector<int> steps_shown(const World& world, const std::string& run) {
  const std::string service =
      "/api/v1/namespaces/" + world.place().name() + "/services/tensorboard:http/proxy";
  std::vector<int> steps;
  try {
    const std::string answer =
        kubectl({"get", "--raw", service + "/data/plugin/scalars/scalars?tag=cost&run=" + run});
    for (const json& point : json::parse(answer)) steps.push_back(point[1]);
  } catch (const std::runtime_error&) {
    return {};
  }
  return steps;
}

// Expects a point at each multiple of `distance`, each of them once.
void expect_one_curve(const World& world, const std::string& run, int distance) {
  std::vector<int> every;
  for (int step = distance; step <= kSteps; step += distance) every.push_back(step);
  std::vector<int> shown;
  becomes_true(
      [&] {
        shown = steps_shown(world, run);
        return !shown.empty() && shown.back() == kSteps;
      },
      60s);
  EXPECT_EQ(shown, every) << run;
}

// Method: the deleted pod saves a checkpoint before its end, the killed one does not. So after the
// second fault, steps are trained again whose points TensorBoard has already. The network policy
// lets only the ports of --ports through: a checkpoint needs a group of ranks.
TEST(AJobWithAVolume, ResumesAfterADeletedAndAKilledPodAndShowsOneCurve) {
  if (!may_harm()) GTEST_SKIP() << "The nodes have no folder in common: ROTA_TEST_HARM is not set.";
  const World world({}, World::Length::kShort, {"volume", "tensorboard", "network-policy"});
  const SharedVolume volume(world.place(), "mnist-data");
  world.place().kubectl({"delete", "pod", name_of(world.training_pods().at(1)), "--wait=false"});
  kill_container(resumed_pod(world));
  const World undisturbed;

  const std::string end = undisturbed.end();
  EXPECT_THAT(end, MatchesRegex("Complete [0-9a-f]+"));
  EXPECT_EQ(world.end(), end);
  const auto is_host_0 = [](const json& pod) { return index_of(pod) == "0"; };
  EXPECT_EQ(std::ranges::count_if(world.place().pods(), is_host_0), 3);  // It came again twice.
  EXPECT_TRUE(exists(volume.folder() / "models" / "1" / "model.onnx"));
  expect_one_curve(world, "train", kPointSteps);
  expect_one_curve(world, "test", kEpochSteps);
}

}  // namespace
}  // namespace rota::testing
