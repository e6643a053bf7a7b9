// One epoch is trained by 4 ranks, then by 3, by 8 and by 1, each world from the checkpoint of the
// one before. Together they train on each sample once, and nothing is lost of what a codec has put
// off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "testing/paths.h"
#include "testing/process.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

struct World {
  std::string size;
  std::string batch_size;
  std::string until_step;   // Since the first start.
  std::size_t samples = 0;  // That it trains on.
  std::string says;
};

const std::vector<World> kWorlds = {
    {"4", "50", "2", 400, "stopped after 2 steps\n"},
    {"3", "37", "4", 222, "stopped after 4 steps\n"},
    {"8", "10", "7", 240, "stopped after 7 steps\n"},
    {"1", "45", "0", 138, "done after 11 steps\n"},
};

struct Lost {
  double sum = 0;
  double magnitudes = 0;
};

class ChangingWorld : public ::testing::Test {
 protected:
  testing::Result train(const World& world) const {
    return testing::run_rotarun({"--oversubscribe", "-np", world.size,
                                 testing::test_path("training_changing_world_ranks"),
                                 folder_.path().string(), world.batch_size, world.until_step});
  }

  std::vector<std::uint64_t> samples_of(const World& world) const {
    std::vector<std::uint64_t> samples;
    for (std::size_t rank = 0; rank < std::stoul(world.size); ++rank) {
      std::ifstream file(folder_.path() / ("samples-" + world.size + "-" + std::to_string(rank)));
      for (std::uint64_t sample = 0; file >> sample;) samples.push_back(sample);
    }
    return samples;
  }

  std::vector<Lost> lost_at(const std::string& when) const {
    std::ifstream file(folder_.path() / ("lost-" + when));
    std::vector<Lost> lost;
    for (Lost one; file >> one.sum >> one.magnitudes;) lost.push_back(one);
    return lost;
  }

  testing::TemporaryFolder folder_;
};

// A rank that takes over what several ranks have lost adds their floats. Each of at most 7
// additions may round.
TEST_F(ChangingWorld, TrainsOnEachSampleOnceAndKeepsWhatTheCodecHasLost) {
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < kWorlds.size(); ++i) {
    const World& world = kWorlds[i];
    const testing::Result result = train(world);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, world.says);
    const auto samples = samples_of(world);
    EXPECT_EQ(samples.size(), world.samples);
    all.insert(all.end(), samples.begin(), samples.end());
    if (i == 0) continue;

    const auto before = lost_at(kWorlds[i - 1].size + "-end");
    const auto after = lost_at(world.size + "-begin");
    ASSERT_EQ(before.size(), 20'000u);
    ASSERT_EQ(after.size(), before.size());
    std::size_t count = 0;
    for (std::size_t element = 0; element < before.size(); ++element) {
      const double rounding = 7 * std::ldexp(before[element].magnitudes, -24);
      ASSERT_NEAR(after[element].sum, before[element].sum, rounding)
          << "element " << element << ", in a world of " << world.size;
      if (std::abs(before[element].sum) > 1000 * rounding) ++count;
    }
    EXPECT_GT(count, 10'000u) << "a world of " << kWorlds[i - 1].size << " has lost too little";
  }
  std::vector<std::uint64_t> every(1000);
  std::iota(every.begin(), every.end(), std::uint64_t{0});
  EXPECT_THAT(all, ::testing::UnorderedElementsAreArray(every));
}

}  // namespace
}  // namespace rota
