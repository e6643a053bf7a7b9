// An evaluator in a pod of its own, without rotarun, scores the checkpoints of a job, and ends when
// the job has nothing left to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cluster/harm.h"
#include "cluster/volume.h"
#include "cluster/world.h"

namespace rota::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::MatchesRegex;

// Returns the step of the newest checkpoint, whose name is a number.
std::uint64_t newest_step(const std::filesystem::path& folder) {
  std::uint64_t newest = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (!entry.is_directory() || name.find_first_not_of("0123456789") != std::string::npos)
      continue;
    newest = std::max<std::uint64_t>(newest, std::stoull(name));
  }
  return newest;
}

std::vector<json> lines_of(const std::filesystem::path& path) {
  std::vector<json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
  return lines;
}

TEST(AnEvaluatorInAPod, ScoresTheLastCheckpointAndEnds) {
  if (!may_harm()) GTEST_SKIP() << "The nodes have no folder in common: ROTA_TEST_HARM is not set.";
  const World world({}, World::Length::kShort, {"volume", "evaluator"});
  const SharedVolume volume(world.place(), "mnist-data");
  EXPECT_THAT(world.end(), MatchesRegex("Complete [0-9a-f]+"));
  EXPECT_EQ(world.place().end_of("job/mnist-evaluator", 120s), "Complete");
  const auto checkpoints = volume.folder() / "checkpoints";
  const auto lines = lines_of(checkpoints / "evaluations.jsonl");
  ASSERT_FALSE(lines.empty());
  EXPECT_GT(newest_step(checkpoints), 0U);
  EXPECT_EQ(lines.back()["step"], newest_step(checkpoints));
  EXPECT_NEAR(lines.back()["samples"].get<double>(), 6000, 10) << "a tenth of the training images";
  EXPECT_TRUE(exists(volume.folder() / "logs" / "evaluator"));
}

}  // namespace
}  // namespace rota::testing
