// Tests what remains of a job after its end, and how a job ends when it is deleted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "cluster/harm.h"
#include "cluster/volume.h"
#include "cluster/world.h"
#include "testing/process.h"

namespace rota::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;

std::unique_ptr<Process> kubectl_beside(const Namespace& place, const Arguments& arguments) {
  Arguments all = {"/usr/bin/env", "kubectl", "--namespace", place.name()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return std::make_unique<Process>(Command{.arguments = all});
}

// Method: logs and exit codes vanish with the pods, so the test follows them while the pods exist.
TEST(ADeletedJob, StopsByAgreementWithinTheGracePeriod) {
  const World world({}, World::Length::kEndless);
  std::vector<std::string> names;
  std::vector<std::unique_ptr<Process>> logs;
  for (const json& pod : world.training_pods()) {
    names.push_back(name_of(pod));
    logs.push_back(kubectl_beside(world.place(), {"logs", "--follow", names.back()}));
  }
  const std::string code = "{.status.containerStatuses[0].state.terminated.exitCode}";
  const auto codes = kubectl_beside(
      world.place(),
      {"get", "pods", "--watch", "--output", "jsonpath={.metadata.name} " + code + R"({"\n"})"});
  for (const std::string& name : names) ASSERT_TRUE(codes->wait_for(name));
  ASSERT_TRUE(logs[0]->wait_for("loss "));

  world.place().kubectl({"delete", "job", "mnist", "--wait=false"});
  EXPECT_TRUE(becomes_true([&] { return world.place().pods().empty(); }, 30s));
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_TRUE(codes->wait_for(names[i] + " 143")) << codes->out();
    const Result log = logs[i]->wait();
    EXPECT_THAT(log.out,
                HasSubstr(" got SIGTERM, so the job ends after a step that the ranks agree on"));
    EXPECT_EQ(log.out.find("stopped after ") != std::string::npos, i == 0);  // Rank 0 says it.
  }
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(OutputOnAVolume, OutlivesThePods) {
  if (!may_harm()) GTEST_SKIP() << "The nodes have no folder in common: ROTA_TEST_HARM is not set.";
  const Namespace place;
  const SharedVolume volume(place, "data");
  place.apply(render({"--workers", "3", "--data-claim", "data", "--data-size", "1Gi"},
                     {"--output-filename", "/data/logs", "mnist", "--model", "seed", "--batch-size",
                      "1000", "--epochs", "1"}));
  ASSERT_EQ(place.end_of("job/mnist", 120s), "Complete");
  place.kubectl({"delete", "job", "mnist", "--timeout=60s"});
  EXPECT_TRUE(becomes_true([&] { return place.pods().empty(); }, 60s));
  const std::filesystem::path logs = volume.folder() / "logs";
  EXPECT_THAT(text_of(logs / "rank.0" / "stdout"), HasSubstr("weights "));
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_TRUE(exists(logs / ("rank." + std::to_string(rank)) / "stderr"));
  }
}

}  // namespace
}  // namespace rota::testing
